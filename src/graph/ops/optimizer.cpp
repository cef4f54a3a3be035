// SPDX-License-Identifier: Apache-2.0
//
// Adagrad, Adam, Momentum of domain ai.onnx.preview.training: inputs are the rate, the step, then
// n tensors, n gradients and n tensors of each kind of state; outputs are the new tensors and
// states. Formulas: the operators' definitions in ONNX 1.7.
#include <algorithm>
#include <array>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// One element and its states before and after a step.
struct Element {
  double x = 0;
  double gradient = 0;
  std::array<double, 2> states{};
};

struct Step {
  const Attributes& attributes;
  double rate;
  double count;  // of steps before this one
  double number(const char* name) const { return static_cast<double>(attributes.number(name)); }
};

void adagrad(const Step& step, Element& e) {
  const double rate = step.rate / (1 + step.count * step.number("decay_factor"));
  const double gradient = step.number("norm_coefficient") * e.x + e.gradient;
  e.states[0] += gradient * gradient;
  e.x -= rate * gradient / (std::sqrt(e.states[0]) + step.number("epsilon"));
}

void adam(const Step& step, Element& e) {
  const double alpha = step.number("alpha");
  const double beta = step.number("beta");
  const double gradient = step.number("norm_coefficient") * e.x + e.gradient;
  e.states[0] = alpha * e.states[0] + (1 - alpha) * gradient;
  e.states[1] = beta * e.states[1] + (1 - beta) * gradient * gradient;
  double rate = step.rate;
  if (step.count > 0) {
    rate *= std::sqrt(1 - std::pow(beta, step.count)) / (1 - std::pow(alpha, step.count));
  }
  e.x -= rate * e.states[0] / (std::sqrt(e.states[1]) + step.number("epsilon"));
  e.x *= 1 - step.number("norm_coefficient_post");
}

void momentum(const Step& step, Element& e) {
  const double alpha = step.number("alpha");
  const double beta = step.count > 0 ? step.number("beta") : 1;
  const double gradient = step.number("norm_coefficient") * e.x + e.gradient;
  e.states[0] = alpha * e.states[0] + beta * gradient;
  const bool nesterov = step.attributes.string("mode") == "nesterov";
  e.x -= step.rate * (nesterov ? gradient + alpha * e.states[0] : e.states[0]);
}

// The number of tensors that are optimised, from 2 + (2 + states) n inputs.
template <size_t states>
Result<size_t> tensor_count(size_t inputs) {
  const size_t groups = 2 + states;
  if (inputs > 2 && (inputs - 2) % groups == 0) return (inputs - 2) / groups;
  return invalid(std::to_string(inputs) + " inputs do not form groups of " +
                 std::to_string(groups) + " after the rate and the step");
}

template <size_t states>
Result<Types> infer_step(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_ASSIGN(const size_t count, tensor_count<states>(context.inputs.size()));
  if (context.output_count > (1 + states) * count) return invalid("more outputs than results");
  if (context.attributes.has("mode")) {
    const std::string& mode = context.attributes.string("mode");
    if (mode != "standard" && mode != "nesterov") {
      return invalid("attribute 'mode' is '" + mode + "', not standard or nesterov");
    }
  }
  for (size_t i = 2; i < context.inputs.size(); ++i) {
    if (!context.has(i)) return invalid("input " + std::to_string(i) + " is required");
    ASSAY_TRY(expect_floating(context, i));
    const size_t tensor = 2 + (i - 2) % count;
    ASSAY_TRY(expect_same_dtype(context, tensor, i));
    if (context.type(i).known() && context.type(tensor).known() &&
        context.type(i) != context.type(tensor)) {
      return invalid("input " + std::to_string(i) + " has type " + context.type(i).text() +
                     ", the tensor it belongs to " + context.type(tensor).text());
    }
  }
  Types types;
  for (size_t i = 0; i < (1 + states) * count; ++i) types.push_back(context.type(2 + i % count));
  return types;
}

template <size_t states, auto update>
Result<void> kernel_step(const KernelContext& context) {
  ASSAY_ASSIGN(const size_t count, tensor_count<states>(context.inputs.size()));
  ASSAY_ASSIGN(const std::vector<double> rate, as_doubles(*context.inputs[0]));
  ASSAY_ASSIGN(const std::vector<double> steps, as_doubles(*context.inputs[1]));
  if (rate.size() != 1 || steps.size() != 1) {
    return invalid("the rate and the step must be one number each");
  }
  const Step step{context.attributes, rate[0], steps[0]};
  for (size_t n = 0; n < count; ++n) {
    const auto input = [&](size_t group) { return 2 + group * count + n; };
    ASSAY_TRY(dispatch_floating(context.inputs[input(0)]->dtype(), [&]<class T>() {
      for (size_t i = 0; i < static_cast<size_t>(context.inputs[input(0)]->elements()); ++i) {
        const auto value = [&](size_t group) {
          return static_cast<double>(input_data<T>(context, input(group))[i]);
        };
        Element e{value(0), value(1), {}};
        for (size_t s = 0; s < states; ++s) e.states[s] = value(2 + s);
        update(step, e);
        for (size_t o = 0; o <= states; ++o) {
          const size_t output = o * count + n;
          if (output >= context.outputs.size()) continue;
          output_data<T>(context, output)[i] = static_cast<T>(o == 0 ? e.x : e.states[o - 1]);
        }
      }
    }));
  }
  return {};
}

// For every element of the tensors; what is done once a step is not counted.
template <size_t states, int flops, int transcendentals>
Cost cost_step(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const auto count = tensor_count<states>(context.inputs.size());
  if (!count.ok()) return cost;
  double elements = 0;
  for (size_t i = 0; i < *count; ++i) elements += context.input_elements(2 + i);
  cost.flops = flops * elements;
  cost.transcendentals = transcendentals * elements;
  return cost;
}

}  // namespace

void add_optimizer_ops(OpTable& table) {
  const auto number = [](const char* name, float value) {
    return AttributeSpec{name, AttributeType::kFloat, value};
  };
  const auto required = [](const char* name, AttributeType type) {
    return AttributeSpec{name, type, {}, true};
  };
  const auto add = [&](const char* type, std::vector<AttributeSpec> attributes, InferFunction infer,
                       CostFunction cost, KernelFunction kernel) {
    table.add({.domain = "ai.onnx.preview.training",
               .type = type,
               .min_inputs = 3,
               .max_inputs = OpEntry::kVariadic,
               .max_outputs = OpEntry::kVariadic,
               .attributes = std::move(attributes),
               .infer = infer,
               .cost = cost,
               .kernel = kernel});
  };
  add("Adagrad",
      {number("decay_factor", 0), number("epsilon", 1e-6f), number("norm_coefficient", 0)},
      infer_step<1>, cost_step<1, 8, 2>, widen16<kernel_step<1, adagrad>>);
  add("Adam",
      {number("alpha", 0.9f), number("beta", 0.999f), number("epsilon", 1e-6f),
       number("norm_coefficient", 0), number("norm_coefficient_post", 0)},
      infer_step<2>, cost_step<2, 14, 2>, widen16<kernel_step<2, adam>>);
  add("Momentum",
      {required("alpha", AttributeType::kFloat), required("beta", AttributeType::kFloat),
       required("mode", AttributeType::kString),
       required("norm_coefficient", AttributeType::kFloat)},
      infer_step<1>, cost_step<1, 7, 0>, widen16<kernel_step<1, momentum>>);
}

}  // namespace assay

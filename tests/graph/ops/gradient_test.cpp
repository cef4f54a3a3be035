// SPDX-License-Identifier: Apache-2.0
//
// Every gradient against central differences in f64, on the cases that also test the kernels. The
// loss is a random combination of all outputs; inputs are moved off their grid, so that no kink
// (Relu at 0, equal maxima) is met.
#include "graph/passes/gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "graph/builder.h"
#include "graph/interpret.h"
#include "graph/ops/golden_case.h"

namespace assay {
namespace {

constexpr double kTolerance = 1e-6;

struct Case {
  const GoldenCase* golden = nullptr;
  std::vector<Tensor> inputs;          // all of the operator's
  std::vector<Tensor> given;           // those that are inputs of the graph
  std::vector<std::string> floating;   // the names of the floating ones
  std::vector<size_t> floating_index;  // in `given`
};

Case case_of(const GoldenCase& golden, RandomStream& random) {
  Case c;
  c.golden = &golden;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    Tensor tensor = golden.inputs[i];
    if (!tensor.empty() && tensor.dtype() == DType::kF64 && !golden.constants.contains(i)) {
      tensor = tensor.clone();
      for (double& v : tensor.values<double>()) v += (0.25 + 0.5 * random.uniform()) / 16;
      c.floating.push_back("x" + std::to_string(i));
      c.floating_index.push_back(c.given.size());
    }
    if (!tensor.empty() && !golden.constants.contains(i)) c.given.push_back(tensor);
    c.inputs.push_back(std::move(tensor));
  }
  return c;
}

// The sum of the floating outputs (only the first, when `first_only`), each weighted element by
// element.
Graph loss_of(const Case& c, bool first_only, RandomStream random) {
  GraphBuilder builder("case");
  std::vector<ValueId> ids;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    if (c.inputs[i].empty()) {
      ids.push_back(kNoValue);
    } else if (c.golden->constants.contains(i)) {
      ids.push_back(builder.constant(name, c.inputs[i]));
    } else {
      ids.push_back(builder.input(name, c.inputs[i].type()));
    }
  }
  const auto outputs =
      builder.add_multi(c.golden->op, ids, c.golden->outputs.size(), c.golden->attributes);
  ValueId loss = kNoValue;
  for (const ValueId output : outputs) {
    const TensorType& type = builder.type(output);
    if (type.dtype != DType::kF64 || !type.known() || (first_only && loss != kNoValue)) continue;
    Tensor weights = Tensor::allocate(DType::kF64, type.shape->sizes());
    for (double& w : weights.values<double>()) w = 0.5 + random.uniform();
    const ValueId weighted = builder.add("Mul", {output, builder.constant("weights", weights)});
    const ValueId sum = builder.add("ReduceSum", {weighted}, {{"keepdims", int64_t{0}}});
    loss = loss == kNoValue ? sum : builder.add("Add", {loss, sum});
  }
  if (loss == kNoValue) loss = outputs[0];
  builder.output(loss, "loss");
  return std::move(builder).build();
}

double loss_at(const Interpreter& forward, const std::vector<Tensor>& given) {
  const auto outputs = forward.outputs(given);
  EXPECT_TRUE(outputs.ok()) << outputs.error().text();
  return outputs.ok() ? outputs->front().values<double>()[0] : 0;
}

// Central differences by at most 24 elements of one input: the largest difference from `gradient`
// in units of its largest element.
double worst_difference(const Interpreter& forward, const Case& c, size_t index,
                        const Tensor& gradient, RandomStream& random) {
  std::vector<Tensor> given = c.given;
  Tensor moved = given[index].clone();
  given[index] = moved;
  const auto values = moved.values<double>();
  const auto expected = gradient.values<double>();
  double scale = 1e-3;
  for (const double g : expected) scale = std::max(scale, std::abs(g));
  double worst = 0;
  const size_t count = std::min<size_t>(values.size(), 24);
  for (size_t k = 0; k < count; ++k) {
    const size_t at = values.size() <= 24 ? k : random.below(values.size());
    const double value = values[at];
    const double step = 1e-5;
    values[at] = value + step;
    const double above = loss_at(forward, given);
    values[at] = value - step;
    const double below = loss_at(forward, given);
    values[at] = value;
    const double slope = (above - below) / (2 * step);
    worst = std::max(worst, std::abs(slope - expected[at]) / scale);
  }
  return worst;
}

const OpEntry* entry_of(const GoldenCase& golden) {
  const std::string_view name = golden.op;
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return op_table().find("", name);
  return op_table().find(name.substr(0, dot), name.substr(dot + 1));
}

// Cases of operators that have a gradient and something floating to differentiate by.
std::vector<GoldenCase> differentiable_cases() {
  std::vector<GoldenCase> cases;
  for (const GoldenCase& golden : golden_cases()) {
    RandomStream random(RandomKey(1));
    if (entry_of(golden)->gradient == nullptr || golden.op == "assay.StopGradient") continue;
    if (golden.outputs[0].dtype() != DType::kF64) continue;
    if (!case_of(golden, random).floating.empty()) cases.push_back(golden);
  }
  return cases;
}

class Gradient : public testing::TestWithParam<GoldenCase> {};

TEST_P(Gradient, EqualsCentralDifferences) {
  RandomStream random(RandomKey(7));
  const Case c = case_of(GetParam(), random);
  size_t checked = 0;
  for (size_t i = 0; i < c.floating.size(); ++i) {
    const std::array names{c.floating[i]};
    bool first_only = false;
    Graph graph = loss_of(c, first_only, random);
    auto differentiated = gradient(graph, std::array{size_t{0}}, names);
    if (!differentiated.ok() && differentiated.error().code == ErrorCode::kUnsupported) {
      first_only = true;  // statistics have no gradient
      graph = loss_of(c, first_only, random);
      differentiated = gradient(graph, std::array{size_t{0}}, names);
    }
    if (!differentiated.ok()) {
      const ErrorCode code = differentiated.error().code;
      EXPECT_TRUE(code == ErrorCode::kUnsupported || code == ErrorCode::kInvalid)
          << differentiated.error().text();
      continue;
    }
    const auto outputs = interpret(*differentiated, c.given);
    ASSERT_TRUE(outputs.ok()) << outputs.error().text();
    const Tensor& slope = outputs->back();
    const Tensor& input = c.given[c.floating_index[i]];
    ASSERT_EQ(slope.shape(), input.shape());
    const Interpreter forward(graph);
    EXPECT_LE(worst_difference(forward, c, c.floating_index[i], slope, random), kTolerance)
        << c.floating[i];
    // One per cent in the largest element must be seen.
    Tensor wrong = slope.clone();
    const auto values = wrong.values<double>();
    for (double& v : values) v *= 1.01;
    const bool nonzero = std::ranges::any_of(values, [](double v) { return std::abs(v) > 1e-3; });
    if (nonzero) {
      EXPECT_GT(worst_difference(forward, c, c.floating_index[i], wrong, random), kTolerance);
    }
    ++checked;
  }
  EXPECT_GT(checked, 0u) << "no input of this case was differentiated";
}

std::string case_name(const testing::TestParamInfo<GoldenCase>& info) {
  std::string name;
  for (const char ch : info.param.name) {
    if (std::isalnum(static_cast<unsigned char>(ch)) != 0) name += ch;
  }
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Golden, Gradient, testing::ValuesIn(differentiable_cases()), case_name);

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The parts of a backward pass that have a kernel of their own in every framework, so that an
// engine runs them as one: assay.ReluGradient, GeluGradient, SoftmaxGradient, LogSoftmaxGradient,
// NegativeLogLikelihoodGradient. The gradient that arrives is always input 0.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// dy and a saved tensor of the same type.
Result<Types> infer_backward(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  ASSAY_TRY(expect_same_shape(context, 0, 1));
  if (context.attributes.has("axis") && context.type(0).shape) {
    ASSAY_TRY(normalized_axis(context.attributes.integer("axis"), context.type(0).shape->rank()));
  }
  return Types{context.type(0).shape ? context.type(0) : context.type(1)};
}

template <int flops, int transcendentals>
Cost cost_backward(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = flops * context.output_elements(0);
  cost.transcendentals = transcendentals * context.output_elements(0);
  return cost;
}

Result<void> kernel_relu_gradient(const KernelContext& context) {
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* dy = input_data<T>(context, 0);
    const T* y = input_data<T>(context, 1);
    const auto dx = context.outputs[0].values<T>();
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = y[i] > 0 ? dy[i] : T{0};
  });
}

// Phi(x) + x phi(x); or the derivative of x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3).
double gelu_slope(double x, bool tanh_form) {
  if (!tanh_form) {
    const double phi = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return (1 + std::erf(x / std::numbers::sqrt2)) / 2 + x * phi;
  }
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const double t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

Result<void> kernel_gelu_gradient(const KernelContext& context) {
  const bool tanh_form = context.attributes.string("approximate") == "tanh";
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* dy = input_data<T>(context, 0);
    const T* x = input_data<T>(context, 1);
    const auto dx = context.outputs[0].values<T>();
    for (size_t i = 0; i < dx.size(); ++i) {
      const double slope = gelu_slope(static_cast<double>(x[i]), tanh_form);
      dx[i] = static_cast<T>(static_cast<double>(dy[i]) * slope);
    }
  });
}

// softmax: dx = y (dy - sum of dy y); its logarithm: dx = dy - exp(y) sum of dy.
template <class T>
void softmax_gradient(const T* dy, const T* y, T* dx, const AxisView& view, bool logarithm) {
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    const int64_t start = row / view.inner * view.size * view.inner + row % view.inner;
    const auto at = [&](int64_t i) { return start + i * view.inner; };
    double sum = 0;
    for (int64_t i = 0; i < view.size; ++i) {
      const double d = static_cast<double>(dy[at(i)]);
      sum += logarithm ? d : d * static_cast<double>(y[at(i)]);
    }
    for (int64_t i = 0; i < view.size; ++i) {
      const double d = static_cast<double>(dy[at(i)]);
      const double v = static_cast<double>(y[at(i)]);
      dx[at(i)] = static_cast<T>(logarithm ? d - std::exp(v) * sum : v * (d - sum));
    }
  }
}

template <bool logarithm>
Result<void> kernel_softmax_gradient(const KernelContext& context) {
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), input_shape(context, 0).size()));
  const AxisView view = view_around(input_shape(context, 0), static_cast<int64_t>(axis));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    softmax_gradient(input_data<T>(context, 0), input_data<T>(context, 1),
                     output_data<T>(context, 0), view, logarithm);
  });
}

// Inputs: dy, the log-probabilities (for their type), labels, class weights.
Result<Types> infer_likelihood(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 1));
  ASSAY_TRY(expect_same_dtype(context, 1, 0));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI32, DType::kI64}));
  ASSAY_TRY(expect_same_dtype(context, 1, 3));
  const bool each = context.attributes.string("reduction") == "none";
  ASSAY_TRY(each ? expect_same_shape(context, 0, 2) : expect_rank(context, 0, 0));
  const TensorType& scores = context.type(1);
  if (!scores.shape) return Types{scores};
  if (scores.shape->rank() < 2) {
    return invalid("input 1 has shape " + scores.shape->text() + ", not [N, C, ...]");
  }
  ASSAY_TRY(expect_vector(context, 3, (*scores.shape)[1], "weights"));
  if (context.type(2).shape) {
    ASSAY_TRY(expect_labels_fit(*scores.shape, *context.type(2).shape));
  }
  return Types{scores};
}

// It is mostly zeros: one value a label is computed.
Cost cost_likelihood(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.read_bytes -= context.input_elements(1) * dtype_bits(context.inputs[1]->dtype) / 8;
  cost.flops = 2 * context.input_elements(2);
  return cost;
}

template <class T>
void likelihood_gradient(const KernelContext& context, const Sizes& labels) {
  const Attributes& attributes = context.attributes;
  const AxisView view = view_around(output_shape(context, 0), 1);
  const std::string& reduction = attributes.string("reduction");
  const auto counts = [&](int64_t label) {
    const bool ignored =
        attributes.has("ignore_index") && label == attributes.integer("ignore_index");
    return !ignored && label >= 0 && label < view.size;
  };
  const auto weight = [&](int64_t label) {
    return context.has(3) ? static_cast<double>(input_data<T>(context, 3)[label]) : 1.0;
  };
  double total = 1;
  if (reduction == "mean") {
    total = 0;
    for (const int64_t label : labels) total += counts(label) ? weight(label) : 0;
  }
  const auto dx = context.outputs[0].values<T>();
  std::fill(dx.begin(), dx.end(), T{0});
  const T* dy = input_data<T>(context, 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!counts(labels[i])) continue;
    const auto at = static_cast<int64_t>(i);
    const int64_t index = (at / view.inner * view.size + labels[i]) * view.inner + at % view.inner;
    const double arriving = static_cast<double>(dy[reduction == "none" ? at : 0]);
    dx[static_cast<size_t>(index)] = static_cast<T>(-arriving * weight(labels[i]) / total);
  }
}

Result<void> kernel_likelihood(const KernelContext& context) {
  ASSAY_ASSIGN(const Sizes labels, as_integers(*context.inputs[2]));
  return dispatch_floating(context.inputs[1]->dtype(),
                           [&]<class T>() { likelihood_gradient<T>(context, labels); });
}

}  // namespace

void add_backward_ops(OpTable& table) {
  const auto add = [&](const char* type, std::vector<AttributeSpec> attributes, CostFunction cost,
                       KernelFunction kernel) {
    table.add({.domain = "assay",
               .type = type,
               .min_inputs = 2,
               .max_inputs = 2,
               .attributes = std::move(attributes),
               .infer = infer_backward,
               .cost = cost,
               .kernel = kernel});
  };
  const std::vector<AttributeSpec> axis{{"axis", AttributeType::kInt, int64_t{-1}}};
  add("ReluGradient", {}, cost_backward<1, 0>, widen16<kernel_relu_gradient>);
  add("GeluGradient", {{"approximate", AttributeType::kString, "none"}}, cost_backward<6, 2>,
      widen16<kernel_gelu_gradient>);
  add("SoftmaxGradient", axis, cost_backward<4, 0>, widen16<kernel_softmax_gradient<false>>);
  add("LogSoftmaxGradient", axis, cost_backward<3, 1>, widen16<kernel_softmax_gradient<true>>);
  table.add({.domain = "assay",
             .type = "NegativeLogLikelihoodGradient",
             .min_inputs = 3,
             .max_inputs = 4,
             .attributes = {{"ignore_index", AttributeType::kInt, {}},
                            {"reduction", AttributeType::kString, "mean"}},
             .infer = infer_likelihood,
             .cost = cost_likelihood,
             .kernel = widen16<kernel_likelihood>});
}

}  // namespace assay

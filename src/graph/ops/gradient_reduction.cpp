// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions and of softmax.
#include <numeric>

#include "graph/ops/gradient.h"
#include "graph/ops/infer.h"

namespace assay {
namespace {

// What a reduction over the axes of input 1 gives back: `value`, of the shape of the output, at
// every element of the input.
Result<ValueId> spread(const Adjoint& a, ValueId value) {
  ASSAY_ASSIGN(const Shape x, a.shape(a.x()));
  if (a.attributes().integer("keepdims") == 0) {
    ValueId axes = a.has(1) ? a.x(1) : kNoValue;
    if (axes == kNoValue) {
      std::vector<int64_t> all(x.rank());
      std::iota(all.begin(), all.end(), int64_t{0});
      axes = a.integers(all);
    }
    ASSAY_ASSIGN(const Shape y, a.shape(value));
    if (y.rank() < x.rank()) value = a.add("Unsqueeze", {value, axes});
  }
  return a.add("Expand", {value, a.add("Shape", {a.x()})});
}

Result<void> gradient_sum(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const ValueId dx, spread(a, a.dy()));
  return a.give(0, dx);
}

Result<void> gradient_mean(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const Shape x, a.shape(a.x()));
  ASSAY_ASSIGN(const Shape y, a.shape(a.dy()));
  ASSAY_ASSIGN(const int64_t before, x.elements());
  ASSAY_ASSIGN(const int64_t after, y.elements());
  const double share = before == 0 ? 0 : static_cast<double>(after) / static_cast<double>(before);
  ASSAY_ASSIGN(const ValueId dx, spread(a, a.add("Mul", {a.dy(), a.number(share, a.dy())})));
  return a.give(0, dx);
}

// The elements equal to the maximum share the gradient equally.
Result<void> gradient_max(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const ValueId top, spread(a, a.y()));
  const ValueId hits = a.add("Equal", {a.x(), top});
  std::vector<ValueId> operands{a.cast(hits, a.y())};
  if (a.has(1)) operands.push_back(a.x(1));
  const ValueId count =
      a.add("ReduceSum", operands, {{"keepdims", a.attributes().integer("keepdims")}});
  ASSAY_ASSIGN(const ValueId share, spread(a, a.add("Div", {a.dy(), count})));
  return a.give(0, a.masked(hits, share));
}

Result<void> gradient_softmax(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("assay.SoftmaxGradient", {a.dy(), a.y()}, a.attributes()));
}

Result<void> gradient_log_softmax(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("assay.LogSoftmaxGradient", {a.dy(), a.y()}, a.attributes()));
}

// Through the log-probabilities, whose own gradient (output 1) is added.
Result<void> gradient_loss(const GradientContext& context) {
  const Adjoint a(context);
  if (a.wants(2)) {
    return Error{ErrorCode::kUnsupported, "the gradient of a loss by its class weights"};
  }
  ValueId sum = a.dy(1);
  if (a.dy(0) != kNoValue) {
    std::vector<ValueId> operands{a.dy(0), a.y(1), a.x(1)};
    if (a.has(2)) operands.push_back(a.x(2));
    const ValueId picked =
        a.add("assay.NegativeLogLikelihoodGradient", std::move(operands), a.attributes());
    sum = sum == kNoValue ? picked : a.add("Add", {sum, picked});
  }
  return a.give(0, a.add("assay.LogSoftmaxGradient", {sum, a.y(1)}, {{"axis", int64_t{1}}}));
}

}  // namespace

void add_reduction_gradients(OpTable& table) {
  table.set_gradient("", "ReduceSum", gradient_sum);
  table.set_gradient("", "ReduceMean", gradient_mean);
  table.set_gradient("", "ReduceMax", gradient_max);
  table.set_gradient("", "Softmax", gradient_softmax);
  table.set_gradient("", "LogSoftmax", gradient_log_softmax);
  table.set_gradient("", "SoftmaxCrossEntropyLoss", gradient_loss);
}

}  // namespace assay

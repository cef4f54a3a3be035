// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the broadcast functions. Ties: Min and Max share the gradient equally among the
// operands that are equal to the result, Clip passes it at its bounds; both are what PyTorch does.
#include "graph/ops/gradient.h"

namespace assay {
namespace {

Result<void> gradient_add(const GradientContext& context) {
  const Adjoint a(context);
  for (size_t i = 0; i < a.input_count(); ++i) ASSAY_TRY(a.give(i, a.dy()));
  return {};
}

Result<void> gradient_sub(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_TRY(a.give(0, a.dy()));
  if (a.wants(1)) ASSAY_TRY(a.give(1, a.add("Neg", {a.dy()})));
  return {};
}

Result<void> gradient_mul(const GradientContext& context) {
  const Adjoint a(context);
  for (size_t i = 0; i < 2; ++i) {
    if (a.wants(i)) ASSAY_TRY(a.give(i, a.add("Mul", {a.dy(), a.x(1 - i)})));
  }
  return {};
}

Result<void> gradient_div(const GradientContext& context) {
  const Adjoint a(context);
  const ValueId quotient = a.add("Div", {a.dy(), a.x(1)});
  ASSAY_TRY(a.give(0, quotient));
  if (a.wants(1)) ASSAY_TRY(a.give(1, a.add("Neg", {a.add("Mul", {quotient, a.y()})})));
  return {};
}

// d x^p = p x^(p-1) dx + x^p log(x) dp; the second is 0 where x is not positive.
Result<void> gradient_pow(const GradientContext& context) {
  const Adjoint a(context);
  const ValueId exponent = a.cast(a.x(1), a.x(0));
  if (a.wants(0)) {
    const ValueId less = a.add("Sub", {exponent, a.number(1, exponent)});
    const ValueId slope = a.add("Mul", {exponent, a.add("Pow", {a.x(0), less})});
    ASSAY_TRY(a.give(0, a.add("Mul", {a.dy(), slope})));
  }
  if (a.wants(1)) {
    const ValueId positive = a.add("Greater", {a.x(0), a.number(0, a.x(0))});
    const ValueId inside = a.add("Where", {positive, a.x(0), a.number(1, a.x(0))});
    const ValueId slope = a.add("Mul", {a.y(), a.add("Log", {inside})});
    ASSAY_TRY(a.give(1, a.add("Mul", {a.dy(), slope})));
  }
  return {};
}

Result<void> gradient_extreme(const GradientContext& context) {
  const Adjoint a(context);
  std::vector<ValueId> hits;
  ValueId count = kNoValue;
  for (size_t i = 0; i < a.input_count(); ++i) {
    hits.push_back(a.add("Equal", {a.x(i), a.y()}));
    const ValueId number = a.cast(hits.back(), a.y());
    count = i == 0 ? number : a.add("Add", {count, number});
  }
  const ValueId share = a.add("Div", {a.dy(), count});
  for (size_t i = 0; i < a.input_count(); ++i) {
    if (a.wants(i)) ASSAY_TRY(a.give(i, a.masked(hits[i], share)));
  }
  return {};
}

Result<void> gradient_clip(const GradientContext& context) {
  const Adjoint a(context);
  ValueId inside = a.dy();
  for (size_t bound = 1; bound < 3; ++bound) {
    if (!a.has(bound)) continue;
    const std::vector<ValueId> operands =
        bound == 1 ? std::vector{a.x(0), a.x(1)} : std::vector{a.x(2), a.x(0)};
    const ValueId outside = a.add("Less", operands);
    if (a.wants(bound)) ASSAY_TRY(a.give(bound, a.masked(outside, a.dy())));
    inside = a.add("Where", {outside, a.number(0, inside), inside});
  }
  return a.give(0, inside);
}

Result<void> gradient_where(const GradientContext& context) {
  const Adjoint a(context);
  if (a.wants(1)) ASSAY_TRY(a.give(1, a.masked(a.x(0), a.dy())));
  if (a.wants(2)) {
    ASSAY_TRY(a.give(2, a.add("Where", {a.x(0), a.number(0, a.dy()), a.dy()})));
  }
  return {};
}

}  // namespace

void add_elementwise_gradients(OpTable& table) {
  table.set_gradient("", "Add", gradient_add);
  table.set_gradient("", "Sub", gradient_sub);
  table.set_gradient("", "Mul", gradient_mul);
  table.set_gradient("", "Div", gradient_div);
  table.set_gradient("", "Pow", gradient_pow);
  table.set_gradient("", "Min", gradient_extreme);
  table.set_gradient("", "Max", gradient_extreme);
  table.set_gradient("", "Clip", gradient_clip);
  table.set_gradient("", "Where", gradient_where);
}

}  // namespace assay

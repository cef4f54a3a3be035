// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators that move elements without changing them: the same elements moved back.
#include <algorithm>
#include <numeric>

#include "graph/ops/gradient.h"
#include "graph/ops/infer.h"

namespace assay {
namespace {

// Reshape, Flatten, Squeeze, Unsqueeze, Identity.
Result<void> gradient_reshape(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.reshaped(a.dy(), a.x()));
}

// Cast to an integer type passes nothing, and is not reached.
Result<void> gradient_pass(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.dy());
}

Result<void> gradient_nothing(const GradientContext& /*context*/) { return {}; }

Result<void> gradient_transpose(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const Shape x, a.shape(a.x()));
  const auto rank = static_cast<int64_t>(x.rank());
  std::vector<int64_t> back(x.rank());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t from = a.attributes().has("perm")
                             ? a.attributes().integers("perm")[static_cast<size_t>(i)]
                             : rank - 1 - i;
    back[static_cast<size_t>(from)] = i;
  }
  return a.give(0, a.add("Transpose", {a.dy()}, {{"perm", back}}));
}

Result<void> gradient_concat(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const Shape y, a.shape(a.dy()));
  ASSAY_ASSIGN(const size_t axis, normalized_axis(a.attributes().integer("axis"), y.rank()));
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < a.input_count(); ++i) {
    ASSAY_ASSIGN(const Shape x, a.shape(a.x(i)));
    if (!x[axis].known()) {
      return Error{ErrorCode::kUnsupported, "the gradient of Concat along an unknown size"};
    }
    sizes.push_back(x[axis].size());
  }
  const auto parts = a.add_multi("Split", {a.dy(), a.integers(sizes)}, sizes.size(),
                                 {{"axis", static_cast<int64_t>(axis)}});
  for (size_t i = 0; i < parts.size(); ++i) ASSAY_TRY(a.give(i, parts[i]));
  return {};
}

Result<void> gradient_split(const GradientContext& context) {
  const Adjoint a(context);
  std::vector<ValueId> parts;
  for (size_t i = 0; i < context.output_gradients.size(); ++i) {
    ValueId part = a.dy(i);
    if (part == kNoValue) part = a.add("Mul", {a.y(i), a.number(0, a.y(i))});
    parts.push_back(part);
  }
  return a.give(0, a.add("Concat", parts, {{"axis", a.attributes().integer("axis")}}));
}

Result<void> gradient_dropout(const GradientContext& context) {
  const Adjoint a(context);
  // Linear in x, with the same mask.
  return a.give(0, a.add("assay.Dropout", {a.dy(), a.x(1)}, a.attributes()));
}

Result<void> gradient_slice(const GradientContext& context) {
  const Adjoint a(context);
  std::vector<ValueId> operands{a.dy(), a.add("Shape", {a.x()})};
  for (size_t i = 1; i < a.input_count(); ++i) operands.push_back(a.x(i));
  return a.give(0, a.add("assay.SliceGradient", std::move(operands)));
}

Result<std::vector<size_t>> normalized_in_order(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<size_t> normal;
  for (const int64_t axis : axes) {
    ASSAY_ASSIGN(const size_t one, normalized_axis(axis, rank));
    normal.push_back(one);
  }
  return normal;
}

// The axes that Pad names, all of them by default.
Result<std::vector<size_t>> padded_axes(const Adjoint& a, size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (a.has(3)) {
    ASSAY_ASSIGN(axes, a.constant_integers(3, "axes"));
  }
  return normalized_in_order(axes, rank);
}

// Every position of the padded tensor shows one of the original: their gradients add up. Axis by
// axis, because the modes are separable.
Result<void> gradient_pad_by_copies(const Adjoint& a) {
  ASSAY_ASSIGN(const Shape x, a.shape(a.x()));
  ASSAY_ASSIGN(const Shape y, a.shape(a.dy()));
  if (!x.known() || !y.known()) {
    return Error{ErrorCode::kUnsupported, "the gradient of Pad of an unknown size"};
  }
  ASSAY_ASSIGN(const std::vector<int64_t> pads, a.constant_integers(1, "pads"));
  ASSAY_ASSIGN(const std::vector<size_t> axes, padded_axes(a, x.rank()));
  std::vector<int64_t> sizes = y.sizes();
  ValueId gradient = a.dy();
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int64_t>(axes[i]);
    sizes[axes[i]] = x[axes[i]].size();
    std::vector<int64_t> places(static_cast<size_t>(sizes[axes[i]]));
    std::iota(places.begin(), places.end(), int64_t{0});
    const ValueId shown =
        a.add("Pad", {a.integers(places), a.integers({pads[i], pads[i + axes.size()]})},
              {{"mode", a.attributes().string("mode")}});
    gradient =
        a.add("assay.GatherGradient", {gradient, shown, a.integers(sizes)}, {{"axis", axis}});
  }
  return a.give(0, gradient);
}

// Zeros were added: what was there before is cut out again.
Result<void> gradient_pad(const GradientContext& context) {
  const Adjoint a(context);
  if (a.wants(2)) return Error{ErrorCode::kUnsupported, "the gradient of Pad by its value"};
  if (a.attributes().string("mode") != "constant") return gradient_pad_by_copies(a);
  std::vector<ValueId> operands{a.dy(), a.add("Neg", {a.x(1)}), kNoValue};
  if (a.has(3)) operands.push_back(a.x(3));
  return a.give(0, a.add("Pad", std::move(operands)));
}

Result<void> gradient_gather(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("assay.GatherGradient", {a.dy(), a.x(1), a.add("Shape", {a.x()})},
                         {{"axis", a.attributes().integer("axis")}}));
}

}  // namespace

void add_layout_gradients(OpTable& table) {
  for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) {
    table.set_gradient("", type, gradient_reshape);
  }
  table.set_gradient("", "Cast", gradient_pass);
  table.set_gradient("", "Expand", gradient_pass);  // summed as any broadcast is
  table.set_gradient("", "Transpose", gradient_transpose);
  table.set_gradient("", "Concat", gradient_concat);
  table.set_gradient("", "Split", gradient_split);
  table.set_gradient("", "Slice", gradient_slice);
  table.set_gradient("", "Pad", gradient_pad);
  table.set_gradient("", "Gather", gradient_gather);
  table.set_gradient("assay", "Dropout", gradient_dropout);
  table.set_gradient("assay", "StopGradient", gradient_nothing);
}

}  // namespace assay

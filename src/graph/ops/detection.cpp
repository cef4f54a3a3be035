// SPDX-License-Identifier: Apache-2.0
//
// NonMaxSuppression, and assay.FixedNms, whose outputs have a size that does not depend on the
// data, so that compiled engines can have it. Source: ONNX operator NonMaxSuppression 11.
#include <algorithm>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// Boxes [B, N, 4] and scores [B, C, N].
struct Candidates {
  Dim batch, classes, boxes;
};

Result<Candidates> candidates(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  ASSAY_TRY(expect_rank(context, 0, 3));
  ASSAY_TRY(expect_rank(context, 1, 3));
  const auto& boxes = context.type(0).shape;
  const auto& scores = context.type(1).shape;
  if (boxes && !may_equal((*boxes)[2], 4)) {
    return invalid("input 0 (boxes) has shape " + boxes->text() + ", not [batch, boxes, 4]");
  }
  if (boxes && scores &&
      (!may_equal((*boxes)[0], (*scores)[0]) || !may_equal((*boxes)[1], (*scores)[2]))) {
    return invalid("input 1 (scores) has shape " + scores->text() + ", which does not fit boxes " +
                   boxes->text());
  }
  const int64_t center = context.attributes.integer("center_point_box");
  if (center != 0 && center != 1) {
    return invalid("attribute 'center_point_box' is " + std::to_string(center));
  }
  return Candidates{boxes ? (*boxes)[0] : Dim(), scores ? (*scores)[1] : Dim(),
                    boxes ? (*boxes)[1] : Dim()};
}

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

template <class T>
Box box_of(const T* v, bool center) {
  const auto at = [v](int i) { return static_cast<double>(v[i]); };
  if (center) {  // x, y, width, height
    return {at(1) - at(3) / 2, at(0) - at(2) / 2, at(1) + at(3) / 2, at(0) + at(2) / 2};
  }
  return {std::min(at(0), at(2)), std::min(at(1), at(3)), std::max(at(0), at(2)),
          std::max(at(1), at(3))};
}

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const double common = height * width;
  return common / (a.area() + b.area() - common);
}

struct Limits {
  int64_t most = 0;
  double overlap = 0;
  std::optional<double> score = {};
};

// The boxes that are kept, best first; equal scores in the order of the boxes.
template <class T>
std::vector<int64_t> kept_boxes(const T* boxes, const T* scores, int64_t count, bool center,
                                const Limits& limits) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    if (!limits.score || static_cast<double>(scores[i]) > *limits.score) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  for (const int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.most) break;
    const Box box = box_of(boxes + 4 * i, center);
    const bool covered = std::ranges::any_of(kept, [&](int64_t j) {
      return overlap(box, box_of(boxes + 4 * j, center)) > limits.overlap;
    });
    if (!covered) kept.push_back(i);
  }
  return kept;
}

// Calls f(batch, class, kept boxes) for each class of each image.
template <class T, class F>
void visit_classes(const KernelContext& context, const Limits& limits, F&& f) {
  const Sizes& scores = input_shape(context, 1);
  const bool center = context.attributes.integer("center_point_box") != 0;
  for (int64_t b = 0; b < scores[0]; ++b) {
    const T* boxes = input_data<T>(context, 0) + b * scores[2] * 4;
    for (int64_t c = 0; c < scores[1]; ++c) {
      const T* values = input_data<T>(context, 1) + (b * scores[1] + c) * scores[2];
      f(b, c, kept_boxes(boxes, values, scores[2], center, limits));
    }
  }
}

Result<Types> infer_nms(const InferContext& context) {
  ASSAY_TRY(candidates(context));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 3, {DType::kF32}));
  ASSAY_TRY(expect_dtype(context, 4, {DType::kF32}));
  return Types{TensorType(DType::kI64, Shape{Dim(), 3})};
}

// Each pair of a class once, as when nothing is suppressed: 4 comparisons, 2 differences, 1
// product, 2 for the union, 1 comparison, and a division.
Cost overlap_cost(const CostContext& context, double pairs) {
  Cost cost = context.operand_bytes();
  cost.flops = 10 * pairs;
  cost.transcendentals = pairs;
  return cost;
}

// As many kept boxes as the constant input 2 allows, or all pairs.
Cost cost_nms(const CostContext& context) {
  const auto boxes = static_cast<double>((*context.inputs[0]->shape)[1].size());
  double kept = std::max(0.0, boxes - 1) / 2;
  if (context.constants.size() > 2 && context.constants[2] != nullptr) {
    const auto most = as_integers(*context.constants[2]);
    if (most.ok() && most->size() == 1) {
      kept = std::clamp(static_cast<double>(most->front()), 0.0, kept);
    }
  }
  return overlap_cost(context, context.input_elements(1) * kept);
}

Result<double> threshold(const KernelContext& context, size_t input, double otherwise) {
  if (!context.has(input)) return otherwise;
  ASSAY_ASSIGN(const std::vector<double> value, as_doubles(*context.inputs[input]));
  if (value.size() != 1) return invalid("input " + std::to_string(input) + " is not one number");
  return value.front();
}

Result<void> kernel_nms(const KernelContext& context) {
  Limits limits;
  ASSAY_ASSIGN(const double most, threshold(context, 2, 0));
  limits.most = static_cast<int64_t>(std::max(most, 0.0));
  ASSAY_ASSIGN(limits.overlap, threshold(context, 3, 0));
  if (context.has(4)) {
    ASSAY_ASSIGN(limits.score, threshold(context, 4, 0));
  }
  std::vector<int64_t> rows;
  ASSAY_TRY(dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    visit_classes<T>(context, limits, [&](int64_t b, int64_t c, const std::vector<int64_t>& kept) {
      for (const int64_t box : kept) rows.insert(rows.end(), {b, c, box});
    });
  }));
  context.outputs[0] = Tensor::from<int64_t>(
      DType::kI64, {static_cast<int64_t>(rows.size()) / 3, 3}, std::span<const int64_t>(rows));
  return {};
}

Result<Types> infer_fixed_nms(const InferContext& context) {
  ASSAY_ASSIGN(const Candidates dims, candidates(context));
  ASSAY_TRY(expect_positive(context, "boxes"));
  const Shape shape{dims.batch, dims.classes, context.attributes.integer("boxes")};
  return Types{TensorType(DType::kI64, shape), TensorType(DType::kBool, shape)};
}

// Each candidate against every kept box.
Cost cost_fixed_nms(const CostContext& context) {
  const auto kept = static_cast<double>(context.attributes.integer("boxes"));
  return overlap_cost(context, context.input_elements(1) * kept);
}

Result<void> kernel_fixed_nms(const KernelContext& context) {
  const Attributes& attributes = context.attributes;
  const Limits limits{attributes.integer("boxes"),
                      static_cast<double>(attributes.number("iou_threshold")),
                      static_cast<double>(attributes.number("score_threshold"))};
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    auto* index = output_data<int64_t>(context, 0);
    uint8_t* mask = context.outputs.size() > 1 ? output_data<uint8_t>(context, 1) : nullptr;
    visit_classes<T>(context, limits, [&](int64_t, int64_t, const std::vector<int64_t>& kept) {
      for (int64_t i = 0; i < limits.most; ++i) {
        const bool filled = i < static_cast<int64_t>(kept.size());
        *index++ = filled ? kept[static_cast<size_t>(i)] : 0;
        if (mask != nullptr) *mask++ = filled ? 1 : 0;
      }
    });
  });
}

}  // namespace

void add_detection_ops(OpTable& table) {
  table.add({.type = "NonMaxSuppression",
             .since_version = 11,
             .min_inputs = 2,
             .max_inputs = 5,
             .attributes = {{"center_point_box", AttributeType::kInt, int64_t{0}}},
             .infer = infer_nms,
             .cost = cost_nms,
             .kernel = widen16<kernel_nms>,
             .sizes_outputs = true});
  table.add({.domain = "assay",
             .type = "FixedNms",
             .min_inputs = 2,
             .max_inputs = 2,
             .max_outputs = 2,
             .attributes = {{"boxes", AttributeType::kInt, {}, true},
                            {"center_point_box", AttributeType::kInt, int64_t{0}},
                            {"iou_threshold", AttributeType::kFloat, 0.5f},
                            {"score_threshold", AttributeType::kFloat, 0.0f}},
             .infer = infer_fixed_nms,
             .cost = cost_fixed_nms,
             .kernel = widen16<kernel_fixed_nms>,
             .note = "NonMaxSuppression with room for a fixed number of boxes in each class: their "
                     "indices [batch, classes, boxes], best first, and a mask of what is filled"});
}

}  // namespace assay

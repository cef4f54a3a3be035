// SPDX-License-Identifier: Apache-2.0
//
// RoiAlign, MaxRoiPool: a grid of numbers for each box of a feature map. Source: ONNX operators
// RoiAlign 16 and MaxRoiPool 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

constexpr int64_t kLargestGrid = int64_t{1} << 24;

Result<void> expect_regions(const InferContext& context, int64_t columns) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  ASSAY_TRY(expect_rank(context, 0, 4));
  ASSAY_TRY(expect_rank(context, 1, 2));
  if (context.type(1).shape && !may_equal((*context.type(1).shape)[1], columns)) {
    return invalid("input 1 (rois) has shape " + context.type(1).shape->text() + " where [n, " +
                   std::to_string(columns) + "] is needed");
  }
  return {};
}

Types region_types(const InferContext& context, int64_t height, int64_t width) {
  const TensorType& x = context.type(0);
  const auto& rois = context.type(1).shape;
  return {TensorType(
      x.dtype, Shape{rois ? (*rois)[0] : Dim(), x.shape ? (*x.shape)[1] : Dim(), height, width})};
}

Result<Types> infer_roi_align(const InferContext& context) {
  ASSAY_TRY(expect_regions(context, 4));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  const auto& rois = context.type(1).shape;
  ASSAY_TRY(expect_vector(context, 2, rois ? (*rois)[0] : Dim(), "batch_indices"));
  ASSAY_TRY(expect_word(context, "mode", {"avg", "max"}));
  ASSAY_TRY(
      expect_word(context, "coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}));
  ASSAY_TRY(expect_positive(context, "output_height"));
  ASSAY_TRY(expect_positive(context, "output_width"));
  const int64_t samples = context.attributes.integer("sampling_ratio");
  if (samples < 0 || samples > kLargestGrid) {
    return invalid("attribute 'sampling_ratio' is " + std::to_string(samples));
  }
  return region_types(context, context.attributes.integer("output_height"),
                      context.attributes.integer("output_width"));
}

// Each sample is read between 4 pixels (4 products, 3 sums) and added or compared (1). How many
// samples an adaptive grid (sampling_ratio 0) takes is data: 4, a box of twice the output's size.
Cost cost_roi_align(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const auto ratio = static_cast<double>(context.attributes.integer("sampling_ratio"));
  cost.flops = context.output_elements(0) * (ratio == 0 ? 4 : ratio * ratio) * 8;
  return cost;
}

// One axis of a box: where its first cell starts, how long a cell is, samples in a cell.
struct BoxAxis {
  double start, cell;
  int64_t samples;
};

BoxAxis box_axis(const Attributes& attributes, double begin, double end, int64_t cells) {
  const bool half = attributes.string("coordinate_transformation_mode") == "half_pixel";
  const auto scale = static_cast<double>(attributes.number("spatial_scale"));
  const double offset = half ? 0.5 : 0.0;
  BoxAxis axis{};
  axis.start = begin * scale - offset;
  double length = end * scale - offset - axis.start;
  if (!half) length = std::max(length, 1.0);
  axis.cell = length / static_cast<double>(cells);
  const int64_t ratio = attributes.integer("sampling_ratio");
  const double adaptive = std::clamp(std::ceil(axis.cell), 0.0, static_cast<double>(kLargestGrid));
  axis.samples = ratio > 0 ? ratio : static_cast<int64_t>(adaptive);
  return axis;
}

// A coordinate between two pixels of an axis; `inside` is false more than one pixel off the map.
struct Between {
  bool inside = false;
  int64_t low = 0, high = 0;
  double to_high = 0;
};

Between between(double at, int64_t size) {
  if (!(at >= -1.0 && at <= static_cast<double>(size)) || size == 0) return {};
  at = std::max(at, 0.0);
  const auto low = static_cast<int64_t>(at);
  if (low >= size - 1) return {true, size - 1, size - 1, 0};
  return {true, low, low + 1, at - static_cast<double>(low)};
}

// The four weighted pixels around a sample: their sum, or (mode max) the largest, as the
// published test data have it.
template <class T>
double region_sample(const T* plane, int64_t width, const Between& h, const Between& w,
                     bool largest) {
  if (!h.inside || !w.inside) return 0;
  const auto at = [&](int64_t i, int64_t j) { return static_cast<double>(plane[i * width + j]); };
  const double parts[4] = {(1 - h.to_high) * (1 - w.to_high) * at(h.low, w.low),
                           (1 - h.to_high) * w.to_high * at(h.low, w.high),
                           h.to_high * (1 - w.to_high) * at(h.high, w.low),
                           h.to_high * w.to_high * at(h.high, w.high)};
  if (largest) return *std::max_element(parts, parts + 4);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

template <class T>
T cell_value(const T* plane, const Sizes& x, const BoxAxis& high, const BoxAxis& wide, int64_t row,
             int64_t column, bool largest) {
  const auto position = [](const BoxAxis& axis, int64_t cell, int64_t sample) {
    const double part = (static_cast<double>(sample) + 0.5) / static_cast<double>(axis.samples);
    return axis.start + (static_cast<double>(cell) + part) * axis.cell;
  };
  double total = 0;
  bool first = true;
  for (int64_t i = 0; i < high.samples; ++i) {
    const Between h = between(position(high, row, i), x[2]);
    for (int64_t j = 0; j < wide.samples; ++j) {
      const Between w = between(position(wide, column, j), x[3]);
      const double value = region_sample(plane, x[3], h, w, largest);
      total = !largest ? total + value : first ? value : std::max(total, value);
      first = false;
    }
  }
  const int64_t count = std::max<int64_t>(high.samples * wide.samples, 1);
  return static_cast<T>(largest ? total : total / static_cast<double>(count));
}

template <class T>
void roi_align(const KernelContext& context, const Sizes& batches) {
  const Sizes& x = input_shape(context, 0);
  const Sizes& y = output_shape(context, 0);
  const bool largest = context.attributes.string("mode") == "max";
  T* out = output_data<T>(context, 0);
  for (int64_t r = 0; r < y[0]; ++r) {
    const T* box = input_data<T>(context, 1) + 4 * r;
    const auto edge = [box](int i) { return static_cast<double>(box[i]); };
    const BoxAxis high = box_axis(context.attributes, edge(1), edge(3), y[2]);
    const BoxAxis wide = box_axis(context.attributes, edge(0), edge(2), y[3]);
    for (int64_t c = 0; c < y[1]; ++c) {
      const T* plane =
          input_data<T>(context, 0) + (batches[static_cast<size_t>(r)] * x[1] + c) * x[2] * x[3];
      for (int64_t i = 0; i < y[2]; ++i) {
        for (int64_t j = 0; j < y[3]; ++j) {
          *out++ = cell_value(plane, x, high, wide, i, j, largest);
        }
      }
    }
  }
}

Error batch_error(double index) {
  return invalid("a box of image " + std::to_string(index) + ", which the input does not have");
}

Result<void> kernel_roi_align(const KernelContext& context) {
  ASSAY_ASSIGN(const Sizes batches, as_integers(*context.inputs[2]));
  for (const int64_t index : batches) {
    if (index < 0 || index >= input_shape(context, 0)[0]) {
      return batch_error(static_cast<double>(index));
    }
  }
  return dispatch_floating(context.inputs[0]->dtype(),
                           [&]<class T>() { roi_align<T>(context, batches); });
}

Result<Types> infer_max_roi_pool(const InferContext& context) {
  ASSAY_TRY(expect_regions(context, 5));
  const auto& pooled = context.attributes.integers("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    return invalid("attribute 'pooled_shape' is not two positive numbers");
  }
  return region_types(context, pooled[0], pooled[1]);
}

// Every pixel of a box is compared once; boxes are data: one as large as the map.
Cost cost_max_roi_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double images = static_cast<double>((*context.inputs[0]->shape)[0].size());
  const double boxes = static_cast<double>((*context.inputs[1]->shape)[0].size());
  cost.flops = images == 0 ? 0 : boxes * context.input_elements(0) / images;
  return cost;
}

// Pixels [begin, end) of cell `cell` along one axis of a box that covers pixels first to last.
std::pair<int64_t, int64_t> cell_range(double first, double last, int64_t cell, int64_t cells,
                                       int64_t size) {
  const double length = std::max(last - first + 1, 1.0) / static_cast<double>(cells);
  const auto limit = [size](double at) {
    return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(size)));
  };
  return {limit(first + std::floor(static_cast<double>(cell) * length)),
          limit(first + std::ceil(static_cast<double>(cell + 1) * length))};
}

template <class T>
bool max_roi_pool(const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  const Sizes& y = output_shape(context, 0);
  const auto scale = static_cast<double>(context.attributes.number("spatial_scale"));
  T* out = output_data<T>(context, 0);
  for (int64_t r = 0; r < y[0]; ++r) {
    const T* box = input_data<T>(context, 1) + 5 * r;
    const auto batch = static_cast<double>(box[0]);
    if (!(batch >= 0 && batch < static_cast<double>(x[0]))) return false;
    const auto edge = [&](int i) { return std::round(static_cast<double>(box[i]) * scale); };
    for (int64_t c = 0; c < y[1]; ++c) {
      const T* plane =
          input_data<T>(context, 0) + (static_cast<int64_t>(batch) * x[1] + c) * x[2] * x[3];
      for (int64_t i = 0; i < y[2]; ++i) {
        const auto [top, bottom] = cell_range(edge(2), edge(4), i, y[2], x[2]);
        for (int64_t j = 0; j < y[3]; ++j) {
          const auto [left, right] = cell_range(edge(1), edge(3), j, y[3], x[3]);
          const bool empty = bottom <= top || right <= left;
          T best = empty ? T{0} : -std::numeric_limits<T>::infinity();
          for (int64_t h = top; h < bottom; ++h) {
            for (int64_t w = left; w < right; ++w) best = std::max(best, plane[h * x[3] + w]);
          }
          *out++ = best;
        }
      }
    }
  }
  return true;
}

Result<void> kernel_max_roi_pool(const KernelContext& context) {
  bool inside = true;
  ASSAY_TRY(dispatch_floating(context.inputs[0]->dtype(),
                              [&]<class T>() { inside = max_roi_pool<T>(context); }));
  if (!inside) return invalid("a box of an image that the input does not have");
  return {};
}

}  // namespace

void add_region_ops(OpTable& table) {
  table.add(
      {.type = "RoiAlign",
       .since_version = 16,
       .min_inputs = 3,
       .max_inputs = 3,
       .attributes = {{"coordinate_transformation_mode", AttributeType::kString, "half_pixel"},
                      {"mode", AttributeType::kString, "avg"},
                      {"output_height", AttributeType::kInt, int64_t{1}},
                      {"output_width", AttributeType::kInt, int64_t{1}},
                      {"sampling_ratio", AttributeType::kInt, int64_t{0}},
                      {"spatial_scale", AttributeType::kFloat, 1.0f}},
       .infer = infer_roi_align,
       .cost = cost_roi_align,
       .kernel = widen16<kernel_roi_align>,
       .note = "mode max takes the largest of the four weighted pixels of a sample, as the "
               "published test data have it"});
  table.add({.type = "MaxRoiPool",
             .since_version = 1,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"pooled_shape", AttributeType::kInts, {}, true},
                            {"spatial_scale", AttributeType::kFloat, 1.0f}},
             .infer = infer_max_roi_pool,
             .cost = cost_max_roi_pool,
             .kernel = widen16<kernel_max_roi_pool>});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Resize. Source: ONNX operator Resize 19, and version 11 for tf_half_pixel_for_nn, which later
// versions cannot express.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/interpolation.h"
#include "graph/ops/loops.h"
#include "graph/ops/quantized.h"

namespace assay {
namespace {

constexpr float kLargestSize = 4.6e18f;  // 2^62

// Inputs: x, roi, scales, sizes.
constexpr size_t kRoi = 1;
constexpr size_t kScales = 2;
constexpr size_t kSizes = 3;

// An optional input that is given and not an empty tensor.
bool given(const InferContext& context, size_t input) {
  if (!context.has(input)) return false;
  const auto& shape = context.type(input).shape;
  return !shape || shape->rank() != 1 || (*shape)[0] != Dim(0);
}

Result<void> check_words(const InferContext& context) {
  ASSAY_TRY(expect_word(context, "mode", {"nearest", "linear", "cubic"}));
  ASSAY_TRY(
      expect_word(context, "coordinate_transformation_mode",
                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                   "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"}));
  ASSAY_TRY(expect_word(context, "nearest_mode",
                        {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  return expect_word(context, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
}

// The axes that scales and sizes speak of.
Result<std::vector<size_t>> resized_axes(const Attributes& attributes, size_t rank) {
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  if (!attributes.has("axes")) return axes;
  axes.clear();
  for (const int64_t axis : attributes.integers("axes")) {
    ASSAY_ASSIGN(const size_t a, normalized_axis(axis, rank, "axes"));
    if (std::ranges::find(axes, a) != axes.end()) {
      return invalid("attribute 'axes' names an axis twice");
    }
    axes.push_back(a);
  }
  return axes;
}

// The output size that a scale gives, computed in f32 as elsewhere.
Result<int64_t> scaled_size(int64_t input, float scale) {
  const float size = std::floor(static_cast<float>(input) * scale);
  if (!(scale > 0) || !(size < kLargestSize)) {
    return invalid("input 2 (scales) holds " + std::to_string(scale));
  }
  return static_cast<int64_t>(size);
}

// Scales and output sizes of `axes`, from the sizes that are wanted.
Result<std::vector<AxisMap>> maps_from_sizes(const std::string& policy, const Sizes& inputs,
                                             const Sizes& sizes) {
  std::vector<AxisMap> maps;
  double shared = policy == "not_larger" ? INFINITY : 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (sizes[i] < 0 || static_cast<float>(sizes[i]) > kLargestSize) {
      return invalid("input 3 (sizes) holds " + std::to_string(sizes[i]));
    }
    if (inputs[i] == 0 && sizes[i] != 0) return invalid("a dimension of size 0 is resized");
    const double scale =
        inputs[i] == 0 ? 1 : static_cast<double>(sizes[i]) / static_cast<double>(inputs[i]);
    maps.push_back({inputs[i], sizes[i], scale});
    shared = policy == "not_larger" ? std::min(shared, scale) : std::max(shared, scale);
  }
  if (policy == "stretch") return maps;
  for (AxisMap& map : maps) {
    map.scale = shared;
    const double size = std::floor(shared * static_cast<double>(map.input) + 0.5);
    if (!(size < static_cast<double>(kLargestSize))) return invalid("input 3 (sizes) is too large");
    map.output = static_cast<int64_t>(size);
  }
  return maps;
}

Result<std::vector<AxisMap>> maps_from_scales(const Sizes& inputs, const Tensor& scales) {
  std::vector<AxisMap> maps;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const float scale = scales.values<float>()[i];
    ASSAY_ASSIGN(const int64_t output, scaled_size(inputs[i], scale));
    maps.push_back({inputs[i], output, static_cast<double>(scale)});
  }
  return maps;
}

Result<Types> infer_resize(const InferContext& context) {
  ASSAY_TRY(check_words(context));
  ASSAY_TRY(expect_floating(context, kRoi));
  ASSAY_TRY(expect_dtype(context, kScales, {DType::kF32}));
  ASSAY_TRY(expect_dtype(context, kSizes, {DType::kI64}));
  const TensorType& type = context.type(0);
  if (given(context, kScales) == given(context, kSizes)) {
    return invalid("one of inputs 2 (scales) and 3 (sizes) is needed");
  }
  if (!type.shape) return Types{TensorType::unranked(type.dtype)};
  Shape y = *type.shape;
  ASSAY_ASSIGN(const std::vector<size_t> axes, resized_axes(context.attributes, y.rank()));
  const size_t input = given(context, kScales) ? kScales : kSizes;
  ASSAY_TRY(expect_vector(context, input, static_cast<int64_t>(axes.size()),
                          input == kScales ? "scales" : "sizes"));
  const Tensor* values = context.constant(input);
  Sizes inputs;
  for (const size_t axis : axes) inputs.push_back(y[axis].size());
  const bool known = std::ranges::all_of(axes, [&](size_t axis) { return y[axis].known(); });
  if (values != nullptr && known) {
    std::vector<AxisMap> maps;
    if (input == kScales) {
      ASSAY_ASSIGN(maps, maps_from_scales(inputs, *values));
    } else {
      ASSAY_ASSIGN(maps, maps_from_sizes(context.attributes.string("keep_aspect_ratio_policy"),
                                         inputs, *constant_integers(context, kSizes)));
    }
    for (size_t i = 0; i < axes.size(); ++i) y[axes[i]] = maps[i].output;
    return Types{TensorType(type.dtype, y)};
  }
  const bool stretch = context.attributes.string("keep_aspect_ratio_policy") == "stretch";
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = y[axes[i]];
    if (values == nullptr || (input == kSizes && !stretch)) {
      dim = Dim();
    } else if (input == kSizes) {
      dim = std::max<int64_t>(values->values<int64_t>()[i], 0);
    } else if (const float scale = values->values<float>()[i]; dim.known()) {
      ASSAY_ASSIGN(const int64_t size, scaled_size(dim.size(), scale));
      dim = size;
    } else if (scale != 1.0f) {
      dim = Dim();
    }
  }
  return Types{TensorType(type.dtype, y)};
}

// A product for each element that has a weight and the sums between them; how many there are is
// the product over the axes that change.
Cost cost_resize(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const InterpolationMode mode = InterpolationMode::of(context.attributes);
  if (mode.mode == "nearest" || !is_floating(context.inputs[0]->dtype)) return cost;
  const Shape& x = *context.inputs[0]->shape;
  const Shape& y = *context.outputs[0]->shape;
  double taps = 1;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (x[i] == y[i] || x[i].size() == 0) continue;
    const double scale = static_cast<double>(y[i].size()) / static_cast<double>(x[i].size());
    taps *= scale == 0 ? 1 : std::ceil(2 * support(mode, scale));
  }
  cost.flops = context.output_elements(0) * (2 * taps - 1);
  return cost;
}

Result<std::vector<AxisMap>> resize_maps(const KernelContext& context,
                                         const std::vector<size_t>& axes) {
  Sizes inputs;
  for (const size_t axis : axes) inputs.push_back(input_shape(context, 0)[axis]);
  std::vector<AxisMap> maps;
  if (context.has(kScales) && context.inputs[kScales]->elements() > 0) {
    ASSAY_ASSIGN(maps, maps_from_scales(inputs, *context.inputs[kScales]));
  } else {
    ASSAY_ASSIGN(const Sizes sizes, as_integers(*context.inputs[kSizes]));
    ASSAY_ASSIGN(maps, maps_from_sizes(context.attributes.string("keep_aspect_ratio_policy"),
                                       inputs, sizes));
  }
  if (context.attributes.string("coordinate_transformation_mode") != "tf_crop_and_resize") {
    return maps;
  }
  if (!context.has(kRoi) ||
      context.inputs[kRoi]->elements() != static_cast<int64_t>(2 * axes.size())) {
    return invalid("input 1 (roi) does not have two numbers for each axis");
  }
  ASSAY_ASSIGN(const std::vector<double> roi, as_doubles(*context.inputs[kRoi]));
  for (size_t i = 0; i < maps.size(); ++i) {
    maps[i].roi_begin = roi[i];
    maps[i].roi_end = roi[i + maps.size()];
  }
  return maps;
}

// One axis of `data` (of shape `shape`, which is updated) resampled; `outside` likewise says which
// elements take the extrapolation value.
void resample(std::vector<double>& data, std::vector<uint8_t>& outside, Sizes& shape, size_t axis,
              const std::vector<AxisSample>& samples) {
  const AxisView view = view_around(shape, static_cast<int64_t>(axis));
  shape[axis] = static_cast<int64_t>(samples.size());
  std::vector<double> values(static_cast<size_t>(element_count(shape)), 0.0);
  std::vector<uint8_t> marks(values.size(), 0);
  size_t at = 0;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (const AxisSample& sample : samples) {
      for (int64_t inner = 0; inner < view.inner; ++inner, ++at) {
        marks[at] = sample.outside ? 1 : 0;
        for (const AxisWeight& w : sample.weights) {
          const auto from = static_cast<size_t>((outer * view.size + w.index) * view.inner + inner);
          values[at] += data[from] * w.weight;
          marks[at] = static_cast<uint8_t>(marks[at] | outside[from]);
        }
      }
    }
  }
  data = std::move(values);
  outside = std::move(marks);
}

template <class T>
T resized_value(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return saturated<T>(value);
  }
}

Result<void> kernel_resize(const KernelContext& context) {
  Sizes shape = input_shape(context, 0);
  ASSAY_ASSIGN(const std::vector<size_t> axes, resized_axes(context.attributes, shape.size()));
  ASSAY_ASSIGN(const std::vector<AxisMap> maps, resize_maps(context, axes));
  const InterpolationMode mode = InterpolationMode::of(context.attributes);
  ASSAY_ASSIGN(std::vector<double> data, as_doubles(*context.inputs[0]));
  std::vector<uint8_t> outside(data.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool crops = mode.transformation == "tf_crop_and_resize";
    if (!crops && maps[i].scale == 1 && maps[i].output == maps[i].input) continue;
    resample(data, outside, shape, axes[i], axis_samples(mode, maps[i]));
  }
  if (shape != output_shape(context, 0)) return invalid("the output's shape depends on the data");
  const auto extrapolation = static_cast<double>(context.attributes.number("extrapolation_value"));
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    for (size_t i = 0; i < data.size(); ++i) {
      y[i] = resized_value<T>(outside[i] != 0 ? extrapolation : data[i]);
    }
  });
}

}  // namespace

void add_resize_ops(OpTable& table) {
  table.add(
      {.type = "Resize",
       .since_version = 19,
       .min_inputs = 1,
       .max_inputs = 4,
       .attributes = {{"antialias", AttributeType::kInt, int64_t{0}},
                      {"axes", AttributeType::kInts, {}},
                      {"coordinate_transformation_mode", AttributeType::kString, "half_pixel"},
                      {"cubic_coeff_a", AttributeType::kFloat, -0.75f},
                      {"exclude_outside", AttributeType::kInt, int64_t{0}},
                      {"extrapolation_value", AttributeType::kFloat, 0.0f},
                      {"keep_aspect_ratio_policy", AttributeType::kString, "stretch"},
                      {"mode", AttributeType::kString, "nearest"},
                      {"nearest_mode", AttributeType::kString, "round_prefer_floor"}},
       .infer = infer_resize,
       .cost = cost_resize,
       .kernel = widen16<kernel_resize>});
}

}  // namespace assay

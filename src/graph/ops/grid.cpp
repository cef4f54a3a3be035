// SPDX-License-Identifier: Apache-2.0
//
// GridSample, AffineGrid: an image read at positions that are data. Source: ONNX operators
// GridSample 20 and AffineGrid 20.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/interpolation.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// Inputs x [N, C, sizes ...] and grid [N, output ..., r], r coordinates in -1 ... 1, the last axis
// of x first.
Result<Types> infer_grid_sample(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_floating(context, 1));
  ASSAY_TRY(expect_word(context, "mode", {"linear", "nearest", "cubic"}));
  ASSAY_TRY(expect_word(context, "padding_mode", {"zeros", "border", "reflection"}));
  const TensorType& type = context.type(0);
  if (!type.shape || !context.type(1).shape) return Types{TensorType::unranked(type.dtype)};
  const Shape& x = *type.shape;
  const Shape& grid = *context.type(1).shape;
  if (x.rank() < 3 || grid.rank() != x.rank() || !may_equal(x[0], grid[0]) ||
      !may_equal(grid[grid.rank() - 1], static_cast<int64_t>(x.rank() - 2))) {
    return invalid("a grid of shape " + grid.text() + " does not fit an input of shape " +
                   x.text());
  }
  for (size_t i = 2; i < x.rank(); ++i) {
    if (x[i] == Dim(0)) return invalid("input 0 has shape " + x.text() + ", without elements");
  }
  Shape y{x[0], x[1]};
  for (size_t i = 1; i + 1 < grid.rank(); ++i) y.append(grid[i]);
  return Types{TensorType(type.dtype, std::move(y))};
}

// As Resize: a product for each of the 2^r or 4^r neighbours and the sums between them. Positions
// and weights are made once for all channels and not counted.
Cost cost_grid_sample(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const std::string& mode = context.attributes.string("mode");
  if (mode == "nearest") return cost;
  const auto axes = static_cast<double>(context.inputs[0]->shape->rank() - 2);
  cost.flops = context.output_elements(0) * (2 * std::pow(mode == "cubic" ? 4 : 2, axes) - 1);
  return cost;
}

// Mirrors `at` at the borders until it lies between them.
double reflected(double at, double low, double high) {
  const double length = high - low;
  if (length <= 0) return low;
  const double turns = (at < low ? low - at : at > high ? at - high : 0) / length;
  if (turns == 0 || !std::isfinite(turns)) return std::isfinite(at) ? at : low;
  const double rest = (turns - std::floor(turns)) * length;
  const bool even = std::fmod(std::floor(turns), 2) == 0;
  return (at < low) == even ? low + rest : high - rest;
}

struct GridRules {
  std::string mode, padding;
  bool align_corners;
};

// The elements of an axis of `size` around grid coordinate `at`; index -1 reads as zero.
std::vector<AxisWeight> grid_taps(const GridRules& rules, double at, int64_t size) {
  const auto n = static_cast<double>(size);
  const double low = rules.align_corners ? 0 : -0.5;
  const double high = rules.align_corners ? n - 1 : n - 0.5;
  double x = rules.align_corners ? (at + 1) / 2 * (n - 1) : ((at + 1) * n - 1) / 2;
  if (rules.mode == "nearest") x = std::nearbyint(x);
  if (rules.padding == "border") {
    if (!(x >= low && x <= high)) x = std::isnan(x) ? 0 : std::clamp(x, 0.0, n - 1);
  } else if (rules.padding == "reflection") {
    x = reflected(x, low, high);
  }
  if (!(x > -n - 4 && x < 2 * n + 4)) return {{-1, 1}};  // far outside, or no number
  const double first = std::floor(x);
  std::vector<std::pair<double, double>> taps;
  if (rules.mode == "nearest") {
    taps = {{x, 1}};
  } else if (rules.mode == "linear") {
    taps = {{first, 1 - (x - first)}, {first + 1, x - first}};
  } else {
    for (int i = -1; i < 3; ++i) {
      taps.emplace_back(first + i, cubic_weight(std::abs(x - first - i), -0.75));
    }
  }
  std::vector<AxisWeight> weights;
  for (auto [index, weight] : taps) {
    const bool inside = index >= 0 && index < n;
    if (rules.padding == "border") index = std::clamp(index, 0.0, n - 1);
    if (rules.padding == "reflection") index = std::clamp(reflected(index, low, high), 0.0, n - 1);
    const bool zero = rules.padding == "zeros" && !inside;
    weights.push_back({zero ? -1 : static_cast<int64_t>(index), weight});
  }
  return weights;
}

// The sum over the product of every axis' taps.
template <class T>
double tap_sum(const T* plane, const Sizes& shape, const std::vector<std::vector<AxisWeight>>& taps,
               size_t axis, int64_t offset) {
  if (axis == taps.size()) return static_cast<double>(plane[offset]);
  double sum = 0;
  for (const AxisWeight& tap : taps[axis]) {
    if (tap.index < 0) continue;
    const int64_t next = offset * shape[axis + 2] + tap.index;
    sum += tap.weight * tap_sum(plane, shape, taps, axis + 1, next);
  }
  return sum;
}

Result<void> kernel_grid_sample(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const Sizes& out = output_shape(context, 0);
  ASSAY_ASSIGN(const std::vector<double> grid, as_doubles(*context.inputs[1]));
  const GridRules rules{context.attributes.string("mode"),
                        context.attributes.string("padding_mode"),
                        context.attributes.integer("align_corners") != 0};
  const size_t axes = shape.size() - 2;
  const int64_t plane = element_count(Sizes(shape.begin() + 2, shape.end()));
  const int64_t positions = element_count(Sizes(out.begin() + 2, out.end()));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    for (int64_t n = 0; n < shape[0]; ++n) {
      for (int64_t p = 0; p < positions; ++p) {
        std::vector<std::vector<AxisWeight>> taps(axes);
        for (size_t i = 0; i < axes; ++i) {
          const size_t at = static_cast<size_t>(n * positions + p) * axes + (axes - 1 - i);
          taps[i] = grid_taps(rules, grid[at], shape[i + 2]);
        }
        for (int64_t c = 0; c < shape[1]; ++c) {
          const int64_t image = n * shape[1] + c;
          output_data<T>(context, 0)[image * positions + p] =
              static_cast<T>(tap_sum(input_data<T>(context, 0) + image * plane, shape, taps, 0, 0));
        }
      }
    }
  });
}

// Inputs theta [N, r, r + 1] and size (i64: N, C and r sizes), r 2 or 3.
Result<Types> infer_affine_grid(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_rank(context, 0, 3));
  ASSAY_ASSIGN(const auto length, vector_length(context, 1));
  const DType dtype = context.type(0).dtype;
  if (!length) return Types{TensorType::unranked(dtype)};
  if (*length != 4 && *length != 5) {
    return invalid("input 1 (size) has " + std::to_string(*length) + " elements, not 4 or 5");
  }
  const int64_t axes = *length - 2;
  Shape y;
  if (const auto& theta = context.type(0).shape) {
    if (!may_equal((*theta)[1], axes) || !may_equal((*theta)[2], axes + 1)) {
      return invalid("input 0 (theta) has shape " + theta->text() + " where [N, " +
                     std::to_string(axes) + ", " + std::to_string(axes + 1) + "] is needed");
    }
    y.append((*theta)[0]);
  } else {
    y.append(Dim());
  }
  const auto size = constant_integers(context, 1);
  for (size_t i = 2; i < static_cast<size_t>(*length); ++i) {
    if (size && (*size)[i] < 0) return invalid("input 1 (size) holds a negative number");
    y.append(size ? Dim((*size)[i]) : Dim());
  }
  if (size && !may_equal(y[0], (*size)[0])) {
    return invalid("input 1 (size) names " + std::to_string((*size)[0]) + " images, theta " +
                   y[0].text());
  }
  y.append(axes);
  return Types{TensorType(dtype, std::move(y))};
}

// Each coordinate is r products and r sums.
Cost cost_affine_grid(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double axes = context.inputs[1] == nullptr
                          ? 0
                          : static_cast<double>((*context.inputs[1]->shape)[0].size()) - 2;
  cost.flops = context.output_elements(0) * 2 * axes;
  return cost;
}

Result<void> kernel_affine_grid(const KernelContext& context) {
  const Sizes& out = output_shape(context, 0);
  const auto axes = static_cast<int64_t>(out.size()) - 2;
  const bool align = context.attributes.integer("align_corners") != 0;
  const Sizes sizes(out.begin() + 1, out.end() - 1);
  const auto coordinate = [align](int64_t i, int64_t size) {
    if (align && size == 1) return 0.0;
    const auto at = static_cast<double>(2 * i + (align ? 0 : 1));
    return at / static_cast<double>(align ? size - 1 : size) - 1;
  };
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    for (int64_t n = 0; n < out[0]; ++n) {
      const T* theta = input_data<T>(context, 0) + n * axes * (axes + 1);
      walk<1>(sizes, {packed_strides(sizes)}, [&](int64_t, const std::array<int64_t, 1>& at) {
        int64_t rest = at[0];
        double position[3] = {};  // the last axis first
        for (int64_t i = 0; i < axes; ++i) {
          const int64_t size = sizes[static_cast<size_t>(axes - 1 - i)];
          position[i] = coordinate(rest % size, size);
          rest /= size;
        }
        for (int64_t row = 0; row < axes; ++row) {
          double sum = static_cast<double>(theta[row * (axes + 1) + axes]);
          for (int64_t i = 0; i < axes; ++i) {
            sum += static_cast<double>(theta[row * (axes + 1) + i]) * position[i];
          }
          *y++ = static_cast<T>(sum);
        }
      });
    }
  });
}

}  // namespace

void add_grid_ops(OpTable& table) {
  table.add({.type = "GridSample",
             .since_version = 20,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"align_corners", AttributeType::kInt, int64_t{0}},
                            {"mode", AttributeType::kString, "linear"},
                            {"padding_mode", AttributeType::kString, "zeros"}},
             .infer = infer_grid_sample,
             .cost = cost_grid_sample,
             .kernel = widen16<kernel_grid_sample>});
  table.add({.type = "AffineGrid",
             .since_version = 20,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"align_corners", AttributeType::kInt, int64_t{0}}},
             .infer = infer_affine_grid,
             .cost = cost_affine_grid,
             .kernel = widen16<kernel_affine_grid>});
}

}  // namespace assay

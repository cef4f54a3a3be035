// SPDX-License-Identifier: Apache-2.0
//
// Resize, GridSample, AffineGrid. ONNX's Resize is separable, so it is a product with one small
// matrix an axis, whatever the mode; the common modes of images are libtorch's own kernels.
#include <algorithm>
#include <cmath>

#include <ATen/ops/affine_grid_generator.h>
#include <ATen/ops/grid_sampler.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_nearest2d.h>

#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"
#include "graph/ops/interpolation.h"

namespace assay::torch_engine {
namespace {

// The matrix of one axis: row o holds the weights of output o.
at::Tensor axis_matrix(const std::vector<AxisSample>& samples, int64_t input) {
  Tensor matrix = Tensor::zeros(DType::kF64, {static_cast<int64_t>(samples.size()), input});
  const auto values = matrix.values<double>();
  for (size_t o = 0; o < samples.size(); ++o) {
    for (const AxisWeight& w : samples[o].weights) {
      values[o * static_cast<size_t>(input) + static_cast<size_t>(w.index)] += w.weight;
    }
  }
  return from_host(matrix, at::kCPU, false).value();
}

struct ResizeAxis {
  int64_t axis = 0;
  at::Tensor matrix;  // [output, input], f64
};

void run_resize(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  at::Tensor value = at::isFloatingType(x.scalar_type()) ? x : x.to(at::kFloat);
  for (const ResizeAxis& a : step.as<std::vector<ResizeAxis>>()) {
    const at::Tensor matrix = a.matrix.to(value.options());
    value = at::matmul(value.transpose(a.axis, -1), matrix.t()).transpose(a.axis, -1);
  }
  step.out(registers) = value.to(x.scalar_type()).contiguous();
}

void run_nearest(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::upsample_nearest2d(step.in(registers, 0), step.as<std::vector<int64_t>>());
}
template <bool kCorners>
void run_bilinear(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::upsample_bilinear2d(step.in(registers, 0), step.as<std::vector<int64_t>>(), kCorners);
}

// libtorch's own kernel where it computes exactly this.
std::optional<Step> image_kernel(const Lowering& lowering, const InterpolationMode& mode,
                                 const std::vector<AxisMap>& maps) {
  const bool image = maps.size() == 4 && maps[0].input == maps[0].output &&
                     maps[1].input == maps[1].output && !mode.antialias && !mode.exclude_outside;
  const bool exact = std::ranges::all_of(maps, [](const AxisMap& m) {
    return m.scale * static_cast<double>(m.input) == static_cast<double>(m.output);
  });
  if (!image || !exact || lowering.type(0).dtype != DType::kF32) return std::nullopt;
  const std::vector<int64_t> size{maps[2].output, maps[3].output};
  if (mode.mode == "nearest" && mode.transformation == "asymmetric" && mode.rounding == "floor") {
    return lowering.step_with(run_nearest, "aten::upsample_nearest2d", size);
  }
  const bool growing = maps[2].output >= maps[2].input && maps[3].output >= maps[3].input;
  if (mode.mode == "linear" && mode.transformation == "half_pixel" && growing) {
    return lowering.step_with(run_bilinear<false>, "aten::upsample_bilinear2d", size);
  }
  if (mode.mode == "linear" && mode.transformation == "align_corners") {
    return lowering.step_with(run_bilinear<true>, "aten::upsample_bilinear2d", size);
  }
  return std::nullopt;
}

// Scales as they are given, or what the sizes give.
Result<std::vector<AxisMap>> axis_maps(const Lowering& lowering) {
  if (!lowering.type(0).known() || !lowering.output_type().known()) {
    return Lowering::unsupported("Resize of an unknown size");
  }
  const std::vector<int64_t> from = lowering.type(0).shape->sizes();
  const std::vector<int64_t> to = lowering.output_type().shape->sizes();
  std::vector<AxisMap> maps;
  for (size_t i = 0; i < from.size(); ++i) {
    AxisMap map;
    map.input = from[i];
    map.output = to[i];
    map.scale = static_cast<double>(to[i]) / static_cast<double>(std::max<int64_t>(from[i], 1));
    maps.push_back(map);
  }
  if (!lowering.has(2)) return maps;
  const Tensor* scales = lowering.graph().constant_data(lowering.node().inputs[2]);
  if (scales == nullptr) return Lowering::unsupported("input 2 (scales) is computed");
  if (scales->elements() == 0) return maps;
  std::vector<int64_t> axes;
  if (lowering.attributes().has("axes")) axes = lowering.attributes().integers("axes");
  const auto values = scales->values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    if (axis < 0) axis += static_cast<int64_t>(maps.size());
    maps[static_cast<size_t>(axis)].scale = static_cast<double>(values[i]);
  }
  return maps;
}

Result<Step> lower_resize(const Lowering& lowering) {
  const InterpolationMode mode = InterpolationMode::of(lowering.attributes());
  if (mode.transformation == "tf_crop_and_resize") {
    return Lowering::unsupported("attribute 'coordinate_transformation_mode' tf_crop_and_resize");
  }
  const std::string& policy = lowering.attributes().string("keep_aspect_ratio_policy");
  if (policy != "stretch") {
    return Lowering::unsupported("attribute 'keep_aspect_ratio_policy' " + policy);
  }
  ASSAY_ASSIGN(const std::vector<AxisMap> maps, axis_maps(lowering));
  if (auto step = image_kernel(lowering, mode, maps)) return *std::move(step);
  std::vector<ResizeAxis> axes;
  for (size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].input == maps[i].output && maps[i].scale == 1) continue;
    axes.push_back(
        {static_cast<int64_t>(i), axis_matrix(axis_samples(mode, maps[i]), maps[i].input)});
  }
  return lowering.step_with(run_resize, "aten::matmul", std::move(axes));
}

struct GridData {
  int64_t mode = 0;
  int64_t padding = 0;
  bool align = false;
};

void run_grid_sample(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<GridData>();
  step.out(registers) = at::grid_sampler(step.in(registers, 0), step.in(registers, 1), data.mode,
                                         data.padding, data.align);
}

Result<Step> lower_grid_sample(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
  const std::string& mode = lowering.attributes().string("mode");
  const std::string& padding = lowering.attributes().string("padding_mode");
  GridData data;
  data.mode = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 2 : 0;
  data.padding = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  data.align = lowering.attributes().integer("align_corners") != 0;
  if (rank != 4 && rank != 5) return Lowering::unsupported("GridSample of rank other than 4 or 5");
  if (data.mode == 1 && data.padding == 2) {
    return Lowering::unsupported("libtorch rounds positions that are reflected in another order");
  }
  if (rank == 5 && data.mode == 2) return Lowering::unsupported("cubic GridSample in 3 dimensions");
  return lowering.step_with(run_grid_sample, "aten::grid_sampler", data);
}

struct AffineData {
  IntegerInput size;
  bool align = false;
};

void run_affine_grid(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<AffineData>();
  step.out(registers) = at::affine_grid_generator(step.in(registers, 0),
                                                  data.size.values(step, registers), data.align);
}

Result<Step> lower_affine_grid(const Lowering& lowering) {
  return lowering.step_with(
      run_affine_grid, "aten::affine_grid_generator",
      AffineData{lowering.integer_input(1), lowering.attributes().integer("align_corners") != 0});
}

}  // namespace

void add_resample_lowerings(LoweringTable& table) {
  table.add("Resize", lower_resize);
  table.add("GridSample", lower_grid_sample, OutputMemory::kOwn);
  table.add("AffineGrid", lower_affine_grid);
}

}  // namespace assay::torch_engine

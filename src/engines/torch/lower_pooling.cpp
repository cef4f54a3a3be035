// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <ATen/ops/amax.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/mean.h>

#include "engines/torch/lowering.h"
#include "engines/torch/window.h"

namespace assay::torch_engine {
namespace {

struct PoolData {
  Window window;
  bool ceil_mode = false;
  bool count_include_pad = false;
};

at::Tensor padded_input(const Step& step, at::Tensor* registers, const Window& window,
                        const at::Scalar& value) {
  if (!window.padded()) return step.in(registers, 0);
  return at::constant_pad_nd(step.in(registers, 0), window.extra, value);
}

void run_max_pool(const Step& step, at::Tensor* registers) {
  const auto& [w, ceil_mode, unused] = step.as<PoolData>();
  const at::Tensor x = padded_input(step, registers, w, -std::numeric_limits<double>::infinity());
  at::Tensor& y = step.out(registers);
  switch (w.kernel.size()) {
    case 1:
      y = at::max_pool1d(x, w.kernel, w.strides, w.pads, w.dilations, ceil_mode);
      break;
    case 2:
      y = at::max_pool2d(x, w.kernel, w.strides, w.pads, w.dilations, ceil_mode);
      break;
    default:
      y = at::max_pool3d(x, w.kernel, w.strides, w.pads, w.dilations, ceil_mode);
  }
}

void run_average_pool(const Step& step, at::Tensor* registers) {
  const auto& [w, ceil_mode, include_pad] = step.as<PoolData>();
  const at::Tensor x = padded_input(step, registers, w, 0);
  at::Tensor& y = step.out(registers);
  switch (w.kernel.size()) {
    case 1:
      y = at::avg_pool1d(x, w.kernel, w.strides, w.pads, ceil_mode, include_pad);
      break;
    case 2:
      y = at::avg_pool2d(x, w.kernel, w.strides, w.pads, ceil_mode, include_pad);
      break;
    default:
      y = at::avg_pool3d(x, w.kernel, w.strides, w.pads, ceil_mode, include_pad);
  }
}

Result<PoolData> decode_pool(const Lowering& lowering) {
  PoolData data;
  std::vector<int64_t> kernel = lowering.attributes().integers("kernel_shape");
  if (kernel.empty() || kernel.size() > 3) {
    return Lowering::unsupported("pools have 1 to 3 spatial axes");
  }
  ASSAY_ASSIGN(data.window, decode_window(lowering, std::move(kernel)));
  data.ceil_mode = lowering.attributes().integer("ceil_mode") != 0;
  for (size_t axis = 0; axis < data.window.kernel.size(); ++axis) {
    if (2 * data.window.pads[axis] > data.window.kernel[axis]) {
      return Lowering::unsupported("libtorch pads at most half of a pool's window");
    }
  }
  return data;
}

Result<Step> lower_max_pool(const Lowering& lowering) {
  if (lowering.wants(1)) return Lowering::unsupported("the Indices output of MaxPool");
  ASSAY_ASSIGN(PoolData data, decode_pool(lowering));
  return lowering.step_with(run_max_pool, "aten::max_pool", std::move(data));
}

Result<Step> lower_average_pool(const Lowering& lowering) {
  ASSAY_ASSIGN(PoolData data, decode_pool(lowering));
  data.count_include_pad = lowering.attributes().integer("count_include_pad") != 0;
  for (const int64_t dilation : data.window.dilations) {
    if (dilation != 1) return Lowering::unsupported("dilated average pools");
  }
  if (data.window.padded() && !data.count_include_pad) {
    return Lowering::unsupported("unequal pads that the average leaves out");
  }
  return lowering.step_with(run_average_pool, "aten::avg_pool", std::move(data));
}

void run_global_average(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::mean(step.in(registers, 0), step.as<std::vector<int64_t>>(), /*keepdim=*/true);
}

void run_global_max(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::amax(step.in(registers, 0), step.as<std::vector<int64_t>>(), /*keepdim=*/true);
}

Result<std::vector<int64_t>> spatial_axes(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  if (axes.empty()) return Lowering::unsupported("a pool without spatial axes");
  return axes;
}

Result<Step> lower_global_average(const Lowering& lowering) {
  ASSAY_ASSIGN(std::vector<int64_t> axes, spatial_axes(lowering));
  return lowering.step_with(run_global_average, "aten::mean", std::move(axes));
}

Result<Step> lower_global_max(const Lowering& lowering) {
  ASSAY_ASSIGN(std::vector<int64_t> axes, spatial_axes(lowering));
  return lowering.step_with(run_global_max, "aten::amax", std::move(axes));
}

}  // namespace

void add_pooling_lowerings(LoweringTable& table) {
  table.add("MaxPool", lower_max_pool, OutputMemory::kKept);
  table.add("AveragePool", lower_average_pool, OutputMemory::kOwn);
  table.add("GlobalAveragePool", lower_global_average, OutputMemory::kOwn);
  table.add("GlobalMaxPool", lower_global_max, OutputMemory::kKept);
}

}  // namespace assay::torch_engine

// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>

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
  const at::Tensor& given = step.in(registers, 0);
  const bool bytes = !at::isFloatingType(given.scalar_type());  // exact in f32
  at::Tensor x = bytes ? given.to(at::kFloat) : given;
  if (w.padded()) {
    x = at::constant_pad_nd(x, w.extra, -std::numeric_limits<double>::infinity());
  }
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
  if (bytes) y = y.to(given.scalar_type());
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

// libtorch counts places within a plane, ONNX within the whole input.
void run_max_pool_with_places(const Step& step, at::Tensor* registers) {
  const auto& [w, ceil_mode, unused] = step.as<PoolData>();
  const at::Tensor& given = step.in(registers, 0);
  const bool line = w.kernel.size() == 1;
  const auto image = [line](std::vector<int64_t> sizes, int64_t lead) {
    if (line) sizes.insert(sizes.begin(), lead);
    return sizes;
  };
  const at::Tensor x = line ? given.unsqueeze(2) : given;
  auto [y, places] =
      w.kernel.size() == 3
          ? at::max_pool3d_with_indices(x, w.kernel, w.strides, w.pads, w.dilations, ceil_mode)
          : at::max_pool2d_with_indices(x, image(w.kernel, 1), image(w.strides, 1),
                                        image(w.pads, 0), image(w.dilations, 1), ceil_mode);
  const int64_t planes = x.size(0) * x.size(1);
  const int64_t plane = planes == 0 ? 0 : x.numel() / planes;
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = x.size(0);
  shape[1] = x.size(1);
  const at::Tensor starts = at::mul(at::arange(planes, places.options()), plane).reshape(shape);
  places = at::add(places, starts);
  step.set(registers, 0, line ? y.squeeze(2) : std::move(y));
  step.set(registers, 1, line ? places.squeeze(2) : std::move(places));
}

Result<Step> lower_max_pool(const Lowering& lowering) {
  ASSAY_ASSIGN(PoolData data, decode_pool(lowering));
  if (lowering.wants(1)) {
    if (!is_floating(lowering.type(0).dtype)) return Lowering::unsupported("places of integers");
    if (data.window.padded()) return Lowering::unsupported("places under unequal pads");
    if (lowering.attributes().integer("storage_order") != 0) {
      return Lowering::unsupported("attribute 'storage_order' 1");
    }
    return lowering.step_with(run_max_pool_with_places, "aten::max_pool2d_with_indices",
                              std::move(data));
  }
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

struct LpData {
  double p = 2;
  std::vector<int64_t> axes;
};

void run_global_lp(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<LpData>();
  step.out(registers) = at::norm(step.in(registers, 0), data.p, data.axes, /*keepdim=*/true);
}

Result<Step> lower_global_lp(const Lowering& lowering) {
  LpData data;
  data.p = static_cast<double>(lowering.attributes().integer("p"));
  ASSAY_ASSIGN(data.axes, spatial_axes(lowering));
  return lowering.step_with(run_global_lp, "aten::norm", std::move(data));
}

struct LpPoolData {
  PoolData pool;
  double p = 2;
};

// (sum |x|^p)^(1/p), the sum being an average times the window's size.
void run_lp_pool(const Step& step, at::Tensor* registers) {
  const auto& [pool, p] = step.as<LpPoolData>();
  const Window& w = pool.window;
  at::Tensor x = at::pow(at::abs(step.in(registers, 0)), p);
  if (w.padded()) x = at::constant_pad_nd(x, w.extra, 0);
  double size = 1;
  for (const int64_t k : w.kernel) size *= static_cast<double>(k);
  at::Tensor mean;
  if (w.kernel.size() == 1) mean = at::avg_pool1d(x, w.kernel, w.strides, w.pads, false, true);
  if (w.kernel.size() == 2) mean = at::avg_pool2d(x, w.kernel, w.strides, w.pads, false, true);
  if (w.kernel.size() == 3) mean = at::avg_pool3d(x, w.kernel, w.strides, w.pads, false, true);
  step.out(registers) = at::pow(at::mul(mean, size), 1 / p);
}

Result<Step> lower_lp_pool(const Lowering& lowering) {
  LpPoolData data;
  ASSAY_ASSIGN(data.pool, decode_pool(lowering));
  data.p = static_cast<double>(lowering.attributes().integer("p"));
  if (data.pool.ceil_mode) return Lowering::unsupported("attribute 'ceil_mode' 1 of LpPool");
  for (const int64_t dilation : data.pool.window.dilations) {
    if (dilation != 1) return Lowering::unsupported("attribute 'dilations' of LpPool");
  }
  return lowering.step_with(run_lp_pool, "aten::pow, aten::avg_pool", std::move(data));
}

// The places count within the output that MaxPool had as its input.
void run_max_unpool(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  at::Tensor y = at::zeros(step.as<std::vector<int64_t>>(), x.options());
  y.view({-1}).scatter_(0, step.in(registers, 1).reshape({-1}), x.reshape({-1}));
  step.out(registers) = std::move(y);
}

Result<Step> lower_max_unpool(const Lowering& lowering) {
  if (!lowering.output_type().known()) return Lowering::unsupported("an output of unknown size");
  if (lowering.has(2)) return Lowering::unsupported("input 2 (output_shape) of MaxUnpool");
  return lowering.step_with(run_max_unpool, "aten::scatter_",
                            lowering.output_type().shape->sizes());
}

}  // namespace

void add_pooling_lowerings(LoweringTable& table) {
  table.add("MaxPool", lower_max_pool, OutputMemory::kKept);
  table.add("AveragePool", lower_average_pool, OutputMemory::kOwn);
  table.add("GlobalAveragePool", lower_global_average, OutputMemory::kOwn);
  table.add("GlobalMaxPool", lower_global_max, OutputMemory::kKept);
  table.add("GlobalLpPool", lower_global_lp, OutputMemory::kKept);
  table.add("LpPool", lower_lp_pool, OutputMemory::kKept);
  table.add("MaxUnpool", lower_max_unpool, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine

// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>

#include "engines/torch/lowering.h"
#include "engines/torch/window.h"

namespace assay::torch_engine {
namespace {

struct ConvData {
  Window window;
  int64_t groups = 1;
  std::vector<int64_t> output_padding;
  bool transposed = false;
};

void run_conv(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ConvData>();
  const at::Tensor bias = step.optional_in(registers, 2);
  step.out(registers) = at::convolution(
      step.in(registers, 0), step.in(registers, 1), bias, data.window.strides, data.window.pads,
      data.window.dilations, data.transposed, data.output_padding, data.groups);
}

void run_padded_conv(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ConvData>();
  const at::Tensor bias = step.optional_in(registers, 2);
  const at::Tensor padded = at::constant_pad_nd(step.in(registers, 0), data.window.extra);
  step.out(registers) =
      at::convolution(padded, step.in(registers, 1), bias, data.window.strides, data.window.pads,
                      data.window.dilations, data.transposed, data.output_padding, data.groups);
}

Result<std::vector<int64_t>> kernel_of(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(1));
  if (rank < 3 || rank > 5) return Lowering::unsupported("convolutions have 1 to 3 spatial axes");
  std::vector<int64_t> kernel;
  const Shape& weight = *lowering.type(1).shape;
  for (size_t axis = 2; axis < static_cast<size_t>(rank); ++axis) {
    if (!weight[axis].known()) return Lowering::unsupported("the kernel's size is unknown");
    kernel.push_back(weight[axis].size());
  }
  return kernel;
}

Result<Step> lower_conv(const Lowering& lowering) {
  ASSAY_ASSIGN(std::vector<int64_t> kernel, kernel_of(lowering));
  ConvData data;
  ASSAY_ASSIGN(data.window, decode_window(lowering, std::move(kernel)));
  data.groups = lowering.attributes().integer("group");
  data.output_padding.assign(data.window.kernel.size(), 0);
  const bool padded = data.window.padded();
  return lowering.step_with(
      padded ? run_padded_conv : run_conv,
      padded ? "aten::constant_pad_nd, aten::convolution" : "aten::convolution", std::move(data));
}

}  // namespace

void add_convolution_lowerings(LoweringTable& table) {
  table.add("Conv", lower_conv, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine

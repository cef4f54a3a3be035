// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/ops/add.h>
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

// Bias comes last, so that what is added at the end has it too.
void run_cropped_conv(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ConvData>();
  const at::Tensor whole = at::convolution(
      step.in(registers, 0), step.in(registers, 1), {}, data.window.strides, data.window.pads,
      data.window.dilations, data.transposed, data.output_padding, data.groups);
  at::Tensor y = at::constant_pad_nd(whole, data.window.extra);
  if (step.has(2)) {
    std::vector<int64_t> shape(static_cast<size_t>(y.dim()), 1);
    shape[1] = -1;
    y = at::add(y, step.in(registers, 2).reshape(shape));
  }
  step.out(registers) = std::move(y);
}

// output = (input - 1) stride + dilated kernel - pads + output_padding; ONNX may give the output's
// size instead, from which the padding at the end follows.
Result<Step> lower_conv_transpose(const Lowering& lowering) {
  ASSAY_ASSIGN(std::vector<int64_t> kernel, kernel_of(lowering));
  if (!lowering.type(0).known() || !lowering.output_type().known()) {
    return Lowering::unsupported("a transposed convolution of unknown size");
  }
  const Attributes& attributes = lowering.attributes();
  ConvData data;
  data.transposed = true;
  data.groups = attributes.integer("group");
  Window& w = data.window;
  w.kernel = kernel;
  const auto listed = [&](const char* name) {
    const std::vector<int64_t> none;
    std::vector<int64_t> values = attributes.has(name) ? attributes.integers(name) : none;
    return values.empty() ? std::vector<int64_t>(kernel.size(), 1) : values;
  };
  w.strides = listed("strides");
  w.dilations = listed("dilations");
  const std::vector<int64_t> x = lowering.type(0).shape->sizes();
  const std::vector<int64_t> y = lowering.output_type().shape->sizes();
  const bool padded = attributes.has("pads") && !attributes.integers("pads").empty() &&
                      attributes.string("auto_pad") == "NOTSET" && !attributes.has("output_shape");
  bool cropped = false;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t full = (x[i + 2] - 1) * w.strides[i] + (kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t cut = full - y[i + 2];  // negative: padding at the end
    int64_t begin = 0;
    if (padded) {
      begin = attributes.integers("pads")[i];
    } else if (cut > 0) {
      begin = attributes.string("auto_pad") == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    }
    const int64_t extra = y[i + 2] - (full - 2 * begin);
    cropped = cropped || extra < 0 || extra >= std::max(w.strides[i], w.dilations[i]);
    w.pads.push_back(begin);
    data.output_padding.push_back(extra);
    w.extra.insert(w.extra.begin(), {-begin, y[i + 2] - (full - begin)});
  }
  if (cropped) {  // what libtorch's own padding cannot say: the whole result, cut to size
    w.pads.assign(kernel.size(), 0);
    data.output_padding.assign(kernel.size(), 0);
    return lowering.step_with(run_cropped_conv, "aten::convolution, aten::constant_pad_nd",
                              std::move(data));
  }
  return lowering.step_with(run_conv, "aten::convolution", std::move(data));
}

}  // namespace

void add_convolution_lowerings(LoweringTable& table) {
  table.add("Conv", lower_conv, OutputMemory::kOwn);
  table.add("ConvTranspose", lower_conv_transpose, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine

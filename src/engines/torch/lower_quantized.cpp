// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic with scales and zero points, from ordinary operators: for right numbers, not
// for speed (the engines openvino and onnxruntime have kernels for it). Products of 8-bit integers
// are summed in double, which is exact.
#include <ATen/ops/add.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/div.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sub.h>

#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"
#include "engines/torch/window.h"

namespace assay::torch_engine {
namespace {

struct Range {
  double low = 0;
  double high = 255;
};

// The values of an integer type that libtorch has; nothing for others (4 bits, float8).
std::optional<Range> range_of(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return Range{0, 255};
    case DType::kI8:
      return Range{-128, 127};
    case DType::kI16:
      return Range{-32768, 32767};
    case DType::kU16:
      return Range{0, 65535};
    default:
      return std::nullopt;
  }
}

// A vector of one entry an element of `axis`, shaped to broadcast over x; scalars as they are.
at::Tensor along(const at::Tensor& vector, const at::Tensor& x, int64_t axis) {
  if (vector.dim() != 1 || vector.numel() == 1) return vector.reshape({});
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[static_cast<size_t>(axis < 0 ? axis + x.dim() : axis)] = vector.size(0);
  return vector.reshape(shape);
}

struct QuantizeData {
  int64_t axis = 1;
  Range range;
  at::ScalarType type = at::kByte;
};

at::Tensor quantized(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& zero,
                     const QuantizeData& data) {
  at::Tensor steps = at::round(at::div(x, scale));
  if (zero.defined()) steps = at::add(steps, zero.to(steps.scalar_type()));
  return at::clamp(steps, data.range.low, data.range.high).to(data.type);
}

void run_quantize(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<QuantizeData>();
  const at::Tensor& x = step.in(registers, 0);
  at::Tensor zero = step.optional_in(registers, 2);
  if (zero.defined()) zero = along(zero, x, data.axis);
  step.out(registers) = quantized(x, along(step.in(registers, 1), x, data.axis), zero, data);
}

Result<void> refuse_blocks(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  if (attributes.has("block_size") && attributes.integer("block_size") != 0) {
    return Lowering::unsupported("attribute 'block_size'");
  }
  return {};
}

Result<QuantizeData> quantize_data(const Lowering& lowering, DType dtype) {
  const auto range = range_of(dtype);
  const auto type = scalar_type(dtype);
  if (!range || !type) {
    return Lowering::unsupported("quantisation to " + std::string(dtype_name(dtype)));
  }
  const Attributes& attributes = lowering.attributes();
  return QuantizeData{attributes.has("axis") ? attributes.integer("axis") : 1, *range, *type};
}

Result<Step> lower_quantize(const Lowering& lowering) {
  ASSAY_TRY(refuse_blocks(lowering));
  ASSAY_ASSIGN(QuantizeData data, quantize_data(lowering, lowering.output_type().dtype));
  return lowering.step_with(run_quantize, "aten::div, aten::round, aten::clamp", data);
}

void run_dequantize(const Step& step, at::Tensor* registers) {
  const auto axis = step.as<int64_t>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor scale = along(step.in(registers, 1), x, axis);
  at::Tensor value = x.to(scale.scalar_type());
  if (step.has(2))
    value = at::sub(value, along(step.in(registers, 2), x, axis).to(value.scalar_type()));
  step.out(registers) = at::mul(value, scale);
}

Result<Step> lower_dequantize(const Lowering& lowering) {
  ASSAY_TRY(refuse_blocks(lowering));
  if (!scalar_type(lowering.type(0).dtype)) {
    return Lowering::unsupported("libtorch has no element type " +
                                 std::string(dtype_name(lowering.type(0).dtype)));
  }
  return lowering.step_with(run_dequantize, "aten::sub, aten::mul",
                            lowering.attributes().integer("axis"));
}

// Scale (max - min) / 255 over a range that holds 0; zero point round(-min / scale).
void run_dynamic(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor low = at::clamp(at::min(x), {}, 0);
  const at::Tensor high = at::clamp(at::max(x), 0);
  const at::Tensor scale = at::div(at::sub(high, low), 255);
  const QuantizeData data{1, {0, 255}, at::kByte};
  const at::Tensor zero = at::clamp(at::round(at::div(low.neg(), scale)), 0, 255).to(at::kByte);
  step.set(registers, 0, quantized(x, scale, zero, data));
  step.set(registers, 1, scale);
  step.set(registers, 2, zero);
}

Result<Step> lower_dynamic(const Lowering& lowering) {
  return lowering.step(run_dynamic, "aten::min, aten::max, aten::round, aten::clamp");
}

// Integers less their zero point, in double; `axis` is that of a vector of zero points.
at::Tensor centred(const Step& step, const at::Tensor* registers, size_t x, size_t zero,
                   int64_t axis) {
  const at::Tensor value = step.in(registers, x).to(at::kDouble);
  if (!step.has(zero)) return value;
  const at::Tensor& point = step.in(registers, zero);
  if (point.dim() > 1) return at::sub(value, point.to(at::kDouble));
  return at::sub(value, along(point, value, axis).to(at::kDouble));
}

void run_matmul_integer(const Step& step, at::Tensor* registers) {
  const at::Tensor a = centred(step, registers, 0, 2, -2);
  const at::Tensor b = centred(step, registers, 1, 3, -1);
  step.out(registers) = at::matmul(a, b).to(at::kInt);
}
Result<Step> lower_matmul_integer(const Lowering& lowering) {
  return lowering.step(run_matmul_integer, "aten::matmul");
}

// The sums of products, times both scales over the result's.
at::Tensor requantized(const Step& step, const at::Tensor* registers, const at::Tensor& sums,
                       const at::Tensor& scale, size_t scale_y, const QuantizeData& data) {
  const at::Tensor value = at::mul(sums, scale);
  return quantized(value, step.in(registers, scale_y).to(at::kDouble).reshape({}),
                   step.in(registers, scale_y + 1).reshape({}), data);
}

// Inputs: a, its scale and zero point, b, its scale and zero point, those of y.
void run_qlinear_matmul(const Step& step, at::Tensor* registers) {
  const at::Tensor a = centred(step, registers, 0, 2, -2);
  const at::Tensor b = centred(step, registers, 3, 5, -1);
  const at::Tensor sums = at::matmul(a, b);
  const at::Tensor scale = at::mul(along(step.in(registers, 1).to(at::kDouble), sums, -2),
                                   along(step.in(registers, 4).to(at::kDouble), sums, -1));
  step.out(registers) = requantized(step, registers, sums, scale, 6, step.as<QuantizeData>());
}
Result<Step> lower_qlinear_matmul(const Lowering& lowering) {
  ASSAY_ASSIGN(QuantizeData data, quantize_data(lowering, lowering.output_type().dtype));
  return lowering.step_with(run_qlinear_matmul, "aten::matmul", data);
}

struct IntegerConv {
  Window window;
  int64_t groups = 1;
  QuantizeData quantize;
};

// Padding is with the zero point, which is 0 after centring.
at::Tensor integer_conv(const IntegerConv& data, const at::Tensor& given,
                        const at::Tensor& weight) {
  const std::vector<int64_t> none(data.window.kernel.size(), 0);
  const at::Tensor x = data.window.padded() ? at::constant_pad_nd(given, data.window.extra) : given;
  return at::convolution(x, weight, {}, data.window.strides, data.window.pads,
                         data.window.dilations, false, none, data.groups);
}

void run_conv_integer(const Step& step, at::Tensor* registers) {
  step.out(registers) = integer_conv(step.as<IntegerConv>(), centred(step, registers, 0, 2, 0),
                                     centred(step, registers, 1, 3, 0))
                            .to(at::kInt);
}

// Inputs: x, scale, zero; w, scale, zero; scale and zero of y; bias.
void run_qlinear_conv(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<IntegerConv>();
  at::Tensor sums =
      integer_conv(data, centred(step, registers, 0, 2, 0), centred(step, registers, 3, 5, 0));
  if (step.has(8)) sums = at::add(sums, along(step.in(registers, 8).to(at::kDouble), sums, 1));
  const at::Tensor scale = at::mul(step.in(registers, 1).to(at::kDouble).reshape({}),
                                   along(step.in(registers, 4).to(at::kDouble), sums, 1));
  step.out(registers) = requantized(step, registers, sums, scale, 6, data.quantize);
}

template <size_t kWeight>
Result<IntegerConv> decode_integer_conv(const Lowering& lowering) {
  IntegerConv data;
  std::vector<int64_t> kernel;
  if (!lowering.type(kWeight).shape) return Lowering::unsupported("the kernel's size is unknown");
  const Shape& weight = *lowering.type(kWeight).shape;
  for (size_t axis = 2; axis < weight.rank(); ++axis) {
    if (!weight[axis].known()) return Lowering::unsupported("the kernel's size is unknown");
    kernel.push_back(weight[axis].size());
  }
  ASSAY_ASSIGN(data.window, decode_window(lowering, std::move(kernel)));
  data.groups = lowering.attributes().integer("group");
  return data;
}

Result<Step> lower_conv_integer(const Lowering& lowering) {
  ASSAY_ASSIGN(IntegerConv data, decode_integer_conv<1>(lowering));
  return lowering.step_with(run_conv_integer, "aten::convolution", std::move(data));
}
Result<Step> lower_qlinear_conv(const Lowering& lowering) {
  ASSAY_ASSIGN(IntegerConv data, decode_integer_conv<3>(lowering));
  ASSAY_ASSIGN(data.quantize, quantize_data(lowering, lowering.output_type().dtype));
  return lowering.step_with(run_qlinear_conv, "aten::convolution", std::move(data));
}

}  // namespace

void add_quantized_lowerings(LoweringTable& table) {
  table.add("QuantizeLinear", lower_quantize, OutputMemory::kOwn);
  table.add("DequantizeLinear", lower_dequantize, OutputMemory::kOwn);
  table.add("DynamicQuantizeLinear", lower_dynamic, OutputMemory::kOwn);
  table.add("MatMulInteger", lower_matmul_integer, OutputMemory::kOwn);
  table.add("QLinearMatMul", lower_qlinear_matmul, OutputMemory::kOwn);
  table.add("ConvInteger", lower_conv_integer, OutputMemory::kOwn);
  table.add("QLinearConv", lower_qlinear_conv, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine

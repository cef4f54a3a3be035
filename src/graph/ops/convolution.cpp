// SPDX-License-Identifier: Apache-2.0
//
// Conv, ConvInteger, QLinearConv.
#include "graph/ops/convolution.h"

#include "graph/ops/families.h"
#include "graph/ops/loops.h"
#include "graph/ops/quantized.h"

namespace assay {

std::vector<AttributeSpec> conv_specs() {
  std::vector<AttributeSpec> specs = window_specs(false);
  specs.push_back({"group", AttributeType::kInt, int64_t{1}});
  return specs;
}

std::optional<std::vector<int64_t>> kernel_of(const Shape& weight) {
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < weight.rank(); ++i) {
    if (!weight[i].known()) return std::nullopt;
    kernel.push_back(weight[i].size());
  }
  return kernel;
}

Result<void> check_channels(const Shape& x, const Shape& w, int64_t group) {
  if (group < 1) return invalid("attribute 'group' is " + std::to_string(group));
  if (w[0].known() && w[0].size() % group != 0) {
    return invalid("attribute 'group' " + std::to_string(group) + " does not divide the " +
                   w[0].text() + " output channels");
  }
  int64_t channels = 0;
  if (!x[1].known() || !w[1].known()) return {};
  if (__builtin_mul_overflow(w[1].size(), group, &channels) || channels != x[1].size()) {
    return invalid("input " + x.text() + " has " + x[1].text() + " channels where weight " +
                   w.text() + " with group " + std::to_string(group) + " needs another number");
  }
  return {};
}

Result<Types> conv_types(const InferContext& context, ConvInputs inputs, DType dtype) {
  const TensorType& data = context.type(inputs.x);
  const TensorType& weight = context.type(inputs.w);
  if (!data.shape || !weight.shape) return Types{TensorType::unranked(dtype)};
  const Shape& x = *data.shape;
  const Shape& w = *weight.shape;
  if (x.rank() < 3) {
    return invalid("input " + std::to_string(inputs.x) + " has shape " + x.text() +
                   ", not [N, C, spatial ...]");
  }
  ASSAY_TRY(expect_rank(context, inputs.w, x.rank()));
  ASSAY_TRY(check_channels(x, w, context.attributes.integer("group")));
  ASSAY_TRY(expect_vector(context, inputs.bias, w[0], "bias"));
  Shape y{x[0], w[0]};
  auto kernel = kernel_of(w);
  if (!kernel && !context.attributes.has("kernel_shape")) {
    for (size_t i = 2; i < x.rank(); ++i) y.append(Dim());
    return Types{TensorType(dtype, y)};
  }
  ASSAY_ASSIGN(
      const WindowAttributes window,
      window_attributes(context.attributes, x.rank() - 2, kernel.value_or(std::vector<int64_t>())));
  for (size_t i = 2; i < x.rank(); ++i) {
    ASSAY_ASSIGN(Dim size, window_output(window, i - 2, x[i]));
    y.append(std::move(size));
  }
  return Types{TensorType(dtype, y)};
}

double conv_macs(const CostContext& context, size_t weight) {
  const Shape& w = *context.inputs[weight]->shape;
  double per_output = 1;
  for (size_t i = 1; i < w.rank(); ++i) per_output *= static_cast<double>(w[i].size());
  return context.output_elements(0) * per_output;
}

Result<ConvSizes> conv_sizes(const Attributes& attributes, const std::vector<int64_t>& x,
                             const std::vector<int64_t>& w) {
  ConvSizes sizes{x[0], x[1], w[0], attributes.integer("group")};
  ASSAY_ASSIGN(sizes.axes, resolve_window(attributes, x, Sizes(w.begin() + 2, w.end())));
  return sizes;
}

namespace {

Result<Types> infer_conv(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  return conv_types(context, {}, context.type(0).dtype);
}

Cost cost_conv(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = conv_macs(context, 1);
  cost.flops = 2 * cost.macs + (context.has(2) ? context.output_elements(0) : 0);
  return cost;
}

Result<void> kernel_conv(const KernelContext& context) {
  ASSAY_ASSIGN(const ConvSizes sizes,
               conv_sizes(context.attributes, input_shape(context, 0), input_shape(context, 1)));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    const T* w = input_data<T>(context, 1);
    const T* bias = context.has(2) ? input_data<T>(context, 2) : nullptr;
    T* y = output_data<T>(context, 0);
    convolve<double>(
        sizes, [x](int64_t i) { return static_cast<double>(x[i]); },
        [w](int64_t i, int64_t) { return static_cast<double>(w[i]); },
        [&](int64_t i, int64_t m, double sum) {
          y[i] = static_cast<T>(bias == nullptr ? sum : sum + static_cast<double>(bias[m]));
        });
  });
}

// Inputs x, w, x_zero_point, w_zero_point (one number, or one a filter).
Result<Types> infer_conv_integer(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kI8, DType::kU8}));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI8, DType::kU8}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(expect_same_dtype(context, 1, 3));
  ASSAY_TRY(expect_one(context, 2, "x_zero_point"));
  ASSAY_TRY(expect_one_or_vector(context, 3, leading_dim(context, 1), "w_zero_point"));
  return conv_types(context, {.bias = OpEntry::kVariadic}, DType::kI32);
}

Cost cost_conv_integer(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = conv_macs(context, 1);
  return cost;
}

Result<void> kernel_conv_integer(const KernelContext& context) {
  ASSAY_ASSIGN(const ConvSizes sizes,
               conv_sizes(context.attributes, input_shape(context, 0), input_shape(context, 1)));
  const ByteOperand x(context, 0, 2);
  const ByteOperand w(context, 1, 3);
  auto* y = output_data<int32_t>(context, 0);
  convolve<int64_t>(
      sizes, [&](int64_t i) { return x.at(i, 0); },
      [&](int64_t i, int64_t m) { return w.at(i, m); },
      [&](int64_t i, int64_t, int64_t sum) { y[i] = static_cast<int32_t>(sum); });
  return {};
}

// Inputs x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias (i32).
Result<Types> infer_qlinear_conv(const InferContext& context) {
  for (const size_t input : {size_t{0}, size_t{3}, size_t{7}}) {
    ASSAY_TRY(expect_dtype(context, input, {DType::kI8, DType::kU8}));
  }
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(expect_same_dtype(context, 3, 5));
  for (const size_t input : {size_t{1}, size_t{4}, size_t{6}}) {
    ASSAY_TRY(expect_dtype(context, input, {DType::kF32}));
  }
  ASSAY_TRY(expect_dtype(context, 8, {DType::kI32}));
  for (const size_t input : {size_t{1}, size_t{2}, size_t{6}, size_t{7}}) {
    ASSAY_TRY(expect_one(context, input, "a scale or zero point"));
  }
  const Dim filters = leading_dim(context, 3);
  ASSAY_TRY(expect_one_or_vector(context, 4, filters, "w_scale"));
  ASSAY_TRY(expect_one_or_vector(context, 5, filters, "w_zero_point"));
  return conv_types(context, {.x = 0, .w = 3, .bias = 8}, context.type(7).dtype);
}

// One multiplication by the combined scale for each output.
Cost cost_qlinear_conv(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = conv_macs(context, 3);
  cost.flops = context.output_elements(0);
  return cost;
}

Result<void> kernel_qlinear_conv(const KernelContext& context) {
  ASSAY_ASSIGN(const ConvSizes sizes,
               conv_sizes(context.attributes, input_shape(context, 0), input_shape(context, 3)));
  const ByteOperand x(context, 0, 2);
  const ByteOperand w(context, 3, 5);
  const Requantizer requantize(context, 1, 4, 6, 7);
  const auto* bias = context.has(8) ? input_data<int32_t>(context, 8) : nullptr;
  return dispatch_byte(context.outputs[0].dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    convolve<int64_t>(
        sizes, [&](int64_t i) { return x.at(i, 0); },
        [&](int64_t i, int64_t m) { return w.at(i, m); },
        [&](int64_t i, int64_t m, int64_t sum) {
          y[i] = requantize.operator()<T>(bias == nullptr ? sum : sum + bias[m], m);
        });
  });
}

}  // namespace

void add_convolution_ops(OpTable& table) {
  table.add({.type = "Conv",
             .since_version = 11,
             .min_inputs = 2,
             .max_inputs = 3,
             .attributes = conv_specs(),
             .infer = infer_conv,
             .cost = cost_conv,
             .kernel = widen16<kernel_conv>});
  table.add({.type = "ConvInteger",
             .since_version = 10,
             .min_inputs = 2,
             .max_inputs = 4,
             .attributes = conv_specs(),
             .infer = infer_conv_integer,
             .cost = cost_conv_integer,
             .kernel = kernel_conv_integer});
  table.add({.type = "QLinearConv",
             .since_version = 10,
             .min_inputs = 8,
             .max_inputs = 9,
             .attributes = conv_specs(),
             .infer = infer_qlinear_conv,
             .cost = cost_qlinear_conv,
             .kernel = kernel_qlinear_conv});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, MatMulInteger, QLinearMatMul. Source:
// ONNX operators of these names, versions 21, 21, 11, 10, 21.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/matrix.h"
#include "graph/ops/quantized.h"

namespace assay {
namespace {

constexpr std::initializer_list<DType> kQuantized{
    DType::kI8, DType::kU8,       DType::kI16,        DType::kU16,    DType::kI4,
    DType::kU4, DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ};

bool is_quantized_float(DType dtype) { return is_floating(dtype) && dtype_bits(dtype) == 8; }

bool holds_one(const Shape& shape) {
  return shape.rank() == 0 || (shape.rank() == 1 && may_equal(shape[0], 1));
}

// The zero points are as many as the scales.
Result<void> check_zero_points(const Shape& scale, const Shape& zero) {
  bool same = zero.rank() == scale.rank();
  for (size_t i = 0; same && i < zero.rank(); ++i) same = may_equal(zero[i], scale[i]);
  if (same || (holds_one(zero) && holds_one(scale))) return {};
  return invalid("input 2 (zero point) has shape " + zero.text() + ", the scale " + scale.text());
}

Result<void> check_blocks(const Shape& x, const Shape& scale, size_t axis, int64_t block) {
  bool fits = scale.rank() == x.rank();
  for (size_t i = 0; fits && i < x.rank(); ++i) {
    if (!x[i].known()) continue;
    const int64_t size = x[i].size();
    fits = may_equal(scale[i], i == axis ? size / block + (size % block != 0 ? 1 : 0) : size);
  }
  if (fits) return {};
  return invalid("input 1 (scale) has shape " + scale.text() + ", which does not fit blocks of " +
                 std::to_string(block) + " of " + x.text());
}

// Scales are one number, one for each index of `axis`, or one for each block along it.
Result<void> check_scales(const InferContext& context) {
  const int64_t block = context.attributes.integer("block_size");
  if (block < 0) return invalid("attribute 'block_size' is " + std::to_string(block));
  const auto& x = context.type(0).shape;
  const auto& scale = context.type(1).shape;
  if (context.has(2) && scale && context.type(2).shape) {
    ASSAY_TRY(check_zero_points(*scale, *context.type(2).shape));
  }
  if (!x || !scale || holds_one(*scale)) return {};
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), x->rank()));
  if (block == 0) return expect_vector(context, 1, (*x)[axis], "scale");
  return check_blocks(*x, *scale, axis, block);
}

// Which scale belongs to each element, in order.
template <class F>
void visit_scales(const KernelContext& context, F&& f) {
  const Sizes& x = input_shape(context, 0);
  const Sizes& scale = input_shape(context, 1);
  const int64_t count = element_count(x);
  if (element_count(scale) == 1) {
    for (int64_t i = 0; i < count; ++i) f(static_cast<size_t>(i), size_t{0});
    return;
  }
  const int64_t block = std::max<int64_t>(context.attributes.integer("block_size"), 1);
  const AxisView view = view_around(x, context.attributes.integer("axis"));
  const bool blocked = context.attributes.integer("block_size") > 0;
  const int64_t blocks = view.size / block + (view.size % block != 0 ? 1 : 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i / view.inner % view.size;
    const int64_t outer = i / view.inner / view.size;
    f(static_cast<size_t>(i),
      static_cast<size_t>(blocked ? (outer * blocks + at / block) * view.inner + i % view.inner
                                  : at));
  }
}

// The output's type: the zero point's, else the attribute's, else u8.
Result<DType> quantized_dtype(const InferContext& context) {
  const int64_t given = context.attributes.integer("output_dtype");
  const auto named = dtype_from_onnx(given);
  if (given != 0 && !named) {
    return invalid("attribute 'output_dtype' is " + std::to_string(given));
  }
  const DType dtype = context.has(2) ? context.type(2).dtype : named.value_or(DType::kU8);
  if (std::ranges::find(kQuantized, dtype) == kQuantized.end()) {
    return invalid("attribute 'output_dtype' or input 2 is " + std::string(dtype_name(dtype)) +
                   ", which is no quantised type");
  }
  if (given != 0 && named != dtype) {
    return invalid("attribute 'output_dtype' is not input 2's element type");
  }
  return dtype;
}

Result<Types> infer_quantize(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kF32, DType::kF16, DType::kBF16, DType::kI32}));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kF32, DType::kF16, DType::kBF16, DType::kI32}));
  ASSAY_ASSIGN(const DType dtype, quantized_dtype(context));
  ASSAY_TRY(check_scales(context));
  TensorType y = context.type(0);
  y.dtype = dtype;
  return Types{std::move(y)};
}

// A multiplication by the reciprocal of the scale, and the sum with the zero point.
Cost cost_quantize(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.input_elements(0) * (context.has(2) ? 2 : 1);
  return cost;
}

Result<std::vector<double>> zero_points(const KernelContext& context, size_t input, size_t count) {
  if (!context.has(input)) return std::vector<double>(count, 0.0);
  return as_doubles(*context.inputs[input]);
}

// x / scale + zero point of every element, as f32 division has it, before rounding to T.
template <class Store>
void quantize(const KernelContext& context, const std::vector<double>& x,
              const std::vector<double>& scales, const std::vector<double>& zeros, Store&& store) {
  visit_scales(context, [&](size_t i, size_t s) {
    const float quotient = static_cast<float>(x[i]) / static_cast<float>(scales[s]);
    store(i, static_cast<double>(quotient), zeros[s]);
  });
}

Result<void> kernel_quantize(const KernelContext& context) {
  ASSAY_ASSIGN(const std::vector<double> x, as_doubles(*context.inputs[0]));
  ASSAY_ASSIGN(const std::vector<double> scales, as_doubles(*context.inputs[1]));
  ASSAY_ASSIGN(const std::vector<double> zeros, zero_points(context, 2, scales.size()));
  Tensor& y = context.outputs[0];
  const DType dtype = y.dtype();
  if (is_quantized_float(dtype)) {
    const bool saturate = context.attributes.integer("saturate") != 0;
    auto* out = static_cast<uint8_t*>(y.data());
    quantize(context, x, scales, zeros, [&](size_t i, double quotient, double zero) {
      out[i] = f32_to_f8(dtype, static_cast<float>(quotient + zero), saturate);
    });
    return {};
  }
  const bool small = dtype_bits(dtype) == 4;
  Tensor wide = small ? Tensor::allocate(widened(dtype), y.shape()) : y;
  const double low = dtype == DType::kI4 ? -8 : 0;
  ASSAY_TRY(dispatch_arithmetic(wide.dtype(), [&]<class T>() {
    const auto out = wide.values<T>();
    quantize(context, x, scales, zeros, [&](size_t i, double quotient, double zero) {
      const double value = std::nearbyint(quotient) + zero;
      out[i] = saturated<T>(small ? std::clamp(value, low, low + 15) : value);
    });
  }));
  if (small) narrow_into(wide, y);
  return {};
}

Result<Types> infer_dequantize(const InferContext& context) {
  if (context.type(0).dtype != DType::kI32) ASSAY_TRY(expect_dtype(context, 0, kQuantized));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kF32, DType::kF16, DType::kBF16}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(check_scales(context));
  TensorType y = context.type(0);
  y.dtype = context.type(1).dtype;
  return Types{std::move(y)};
}

Result<void> kernel_dequantize(const KernelContext& context) {
  ASSAY_ASSIGN(const std::vector<double> x, as_doubles(*context.inputs[0]));
  ASSAY_ASSIGN(const std::vector<double> scales, as_doubles(*context.inputs[1]));
  ASSAY_ASSIGN(const std::vector<double> zeros, zero_points(context, 2, scales.size()));
  return dispatch_floating(context.outputs[0].dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    visit_scales(context,
                 [&](size_t i, size_t s) { y[i] = static_cast<T>((x[i] - zeros[s]) * scales[s]); });
  });
}

Result<Types> infer_dynamic_quantize(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kF32}));
  TensorType y = context.type(0);
  y.dtype = DType::kU8;
  return Types{y, TensorType(DType::kF32, Shape()), TensorType(DType::kU8, Shape())};
}

// Minimum and maximum 2, quotient 1, zero point 1.
Cost cost_dynamic_quantize(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 4 * context.input_elements(0);
  return cost;
}

Result<void> kernel_dynamic_quantize(const KernelContext& context) {
  const auto x = context.inputs[0]->values<float>();
  float low = 0;
  float high = 0;
  for (const float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const auto zero = saturated<uint8_t>(static_cast<double>(-low / scale));
  auto* y = output_data<uint8_t>(context, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = saturated<uint8_t>(std::nearbyint(static_cast<double>(x[i] / scale)) + zero);
  }
  if (context.outputs.size() > 1) *output_data<float>(context, 1) = scale;
  if (context.outputs.size() > 2) *output_data<uint8_t>(context, 2) = zero;
  return {};
}

Result<void> expect_bytes(const InferContext& context, std::initializer_list<size_t> inputs) {
  for (const size_t input : inputs) {
    ASSAY_TRY(expect_dtype(context, input, {DType::kI8, DType::kU8}));
  }
  return {};
}

// Numbers that belong to the whole operand, or to each row (or column) of each of its matrices.
class Lines {
 public:
  Lines(const KernelContext& context, size_t input, int64_t length)
      : length_(length), values_(1, 0.0) {
    if (context.has(input)) values_ = *as_doubles(*context.inputs[input]);
  }
  double at(int64_t matrix, int64_t line) const {
    const auto count = static_cast<int64_t>(values_.size());
    const int64_t index = count == 1 ? 0 : count == length_ ? line : matrix * length_ + line;
    return values_[static_cast<size_t>(index)];
  }

 private:
  int64_t length_;
  std::vector<double> values_;
};

// Numbers for each row of input `operand` (or column, when `columns`).
Result<void> check_lines(const InferContext& context, size_t input, size_t operand, bool columns) {
  if (!context.has(input) || !context.type(input).shape || !context.type(operand).shape) return {};
  const Shape& lines = *context.type(input).shape;
  const Shape& x = *context.type(operand).shape;
  if (!lines.known() || !x.known() || *lines.elements() == 1) return {};
  const size_t rank = x.rank();
  const Dim length = columns ? x[rank - 1] : rank > 1 ? x[rank - 2] : Dim(1);
  const Dim other = columns ? (rank > 1 ? x[rank - 2] : Dim(1)) : x[rank - 1];
  const int64_t count = *lines.elements();
  if (count == length.size()) return {};
  if (other.size() > 0 && count == *x.elements() / other.size()) return {};
  return invalid("input " + std::to_string(input) + " has shape " + lines.text() +
                 ", which does not fit an operand of " + x.text());
}

// Inputs a, b, a_zero_point, b_zero_point.
Result<Types> infer_matmul_integer(const InferContext& context) {
  ASSAY_TRY(expect_bytes(context, {0, 1}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(expect_same_dtype(context, 1, 3));
  ASSAY_TRY(check_lines(context, 2, 0, false));
  ASSAY_TRY(check_lines(context, 3, 1, true));
  return matmul_types(context, 0, 1, DType::kI32);
}

Cost cost_matmul_integer(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = matmul_macs(context, 0);
  return cost;
}

// Products of bytes less their zero points; store(y offset, matrices of a and b, row, column, sum).
template <class Store>
void multiply_bytes(const KernelContext& context, size_t a_input, size_t b_input, size_t a_zero,
                    size_t b_zero, Store&& store) {
  const MatmulSizes s =
      MatmulSizes::of(input_shape(context, a_input), input_shape(context, b_input));
  const ByteOperand left(context, a_input);
  const ByteOperand right(context, b_input);
  const Lines a_zeros(context, a_zero, s.m);
  const Lines b_zeros(context, b_zero, s.n);
  visit_products(s, [&](int64_t a, int64_t b, int64_t y) {
    multiply<double>(
        s.m, s.n, s.k,
        [&](int64_t i, int64_t p) {
          return left.at(a * s.m * s.k + i * s.k + p, 0) - a_zeros.at(a, i);
        },
        [&](int64_t p, int64_t j) {
          return right.at(b * s.k * s.n + p * s.n + j, 0) - b_zeros.at(b, j);
        },
        [&](int64_t i, int64_t j, double sum) { store((y * s.m + i) * s.n + j, a, b, i, j, sum); });
  });
}

Result<void> kernel_matmul_integer(const KernelContext& context) {
  auto* y = output_data<int32_t>(context, 0);
  multiply_bytes(context, 0, 1, 2, 3,
                 [y](int64_t at, int64_t, int64_t, int64_t, int64_t, double sum) {
                   y[at] = static_cast<int32_t>(static_cast<int64_t>(sum));
                 });
  return {};
}

// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
Result<Types> infer_qlinear_matmul(const InferContext& context) {
  if (is_quantized_float(context.type(0).dtype) || is_quantized_float(context.type(3).dtype)) {
    return Error{ErrorCode::kUnsupported, "QLinearMatMul of 8-bit floating types"};
  }
  ASSAY_TRY(expect_bytes(context, {0, 3, 7}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(expect_same_dtype(context, 3, 5));
  for (const size_t input : {size_t{1}, size_t{4}, size_t{6}}) {
    ASSAY_TRY(expect_dtype(context, input, {DType::kF32, DType::kF16, DType::kBF16}));
  }
  for (const size_t input : {size_t{1}, size_t{2}}) {
    ASSAY_TRY(check_lines(context, input, 0, false));
    ASSAY_TRY(check_lines(context, input + 3, 3, true));
  }
  ASSAY_TRY(expect_one(context, 6, "y_scale"));
  ASSAY_TRY(expect_one(context, 7, "y_zero_point"));
  return matmul_types(context, 0, 3, context.type(7).dtype);
}

Cost cost_qlinear_matmul(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = matmul_macs(context, 0);
  cost.flops = context.output_elements(0);
  return cost;
}

Result<void> kernel_qlinear_matmul(const KernelContext& context) {
  const MatmulSizes s = MatmulSizes::of(input_shape(context, 0), input_shape(context, 3));
  const Lines a_scales(context, 1, s.m);
  const Lines b_scales(context, 4, s.n);
  const double y_scale = as_doubles(*context.inputs[6])->front();
  const double zero = as_doubles(*context.inputs[7])->front();
  return dispatch_byte(context.outputs[0].dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    multiply_bytes(context, 0, 3, 2, 5,
                   [&](int64_t at, int64_t a, int64_t b, int64_t i, int64_t j, double sum) {
                     const double scale = a_scales.at(a, i) * b_scales.at(b, j) / y_scale;
                     y[at] = saturated<T>(std::nearbyint(sum * scale) + zero);
                   });
  });
}

OpEntry entry(std::string type, int version, size_t least, size_t most, InferFunction infer,
              CostFunction cost, KernelFunction kernel) {
  return {.type = std::move(type),
          .since_version = version,
          .min_inputs = least,
          .max_inputs = most,
          .infer = infer,
          .cost = cost,
          .kernel = kernel};
}

}  // namespace

void add_quantized_ops(OpTable& table) {
  const std::vector<AttributeSpec> scales{{"axis", AttributeType::kInt, int64_t{1}},
                                          {"block_size", AttributeType::kInt, int64_t{0}}};
  OpEntry quantize =
      entry("QuantizeLinear", 21, 2, 3, infer_quantize, cost_quantize, kernel_quantize);
  quantize.attributes = scales;
  quantize.attributes.push_back({"output_dtype", AttributeType::kInt, int64_t{0}});
  quantize.attributes.push_back({"saturate", AttributeType::kInt, int64_t{1}});
  table.add(std::move(quantize));
  OpEntry dequantize = entry("DequantizeLinear", 21, 2, 3, infer_dequantize, cost_quantize,
                             widen16<kernel_dequantize>);
  dequantize.attributes = scales;
  table.add(std::move(dequantize));
  OpEntry dynamic = entry("DynamicQuantizeLinear", 11, 1, 1, infer_dynamic_quantize,
                          cost_dynamic_quantize, kernel_dynamic_quantize);
  dynamic.max_outputs = 3;
  table.add(std::move(dynamic));
  table.add(entry("MatMulInteger", 10, 2, 4, infer_matmul_integer, cost_matmul_integer,
                  kernel_matmul_integer));
  table.add(entry("QLinearMatMul", 21, 8, 8, infer_qlinear_matmul, cost_qlinear_matmul,
                  kernel_qlinear_matmul));
}

}  // namespace assay

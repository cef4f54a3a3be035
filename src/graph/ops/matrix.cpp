// SPDX-License-Identifier: Apache-2.0
//
// MatMul, Gemm.
#include "graph/ops/matrix.h"

#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

Result<void> expect_matrix_dtype(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0,
                         {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI32,
                          DType::kI64, DType::kU32, DType::kU64}));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  return expect_same_dtype(context, 0, 2);
}

Error inner_error(const Shape& a, const Shape& b) {
  return invalid("shapes " + a.text() + " and " + b.text() + " cannot be multiplied");
}

Shape leading(const Shape& shape) {
  const auto& dims = shape.dims();
  return Shape(std::vector<Dim>(dims.begin(), dims.end() - 2));
}

}  // namespace

Result<Types> matmul_types(const InferContext& context, size_t left, size_t right, DType dtype) {
  if (!context.type(left).shape || !context.type(right).shape) {
    return Types{TensorType::unranked(dtype)};
  }
  Shape a = *context.type(left).shape;
  Shape b = *context.type(right).shape;
  if (a.rank() == 0 || b.rank() == 0) return inner_error(a, b);
  const bool a_vector = a.rank() == 1;
  const bool b_vector = b.rank() == 1;
  if (!may_equal(a[a.rank() - 1], b[b_vector ? 0 : b.rank() - 2])) return inner_error(a, b);
  if (a_vector) a = Shape{1, a[0]};
  if (b_vector) b = Shape{b[0], 1};
  ASSAY_ASSIGN(Shape y, broadcast(leading(a), leading(b)));
  if (!a_vector) y.append(a[a.rank() - 2]);
  if (!b_vector) y.append(b[b.rank() - 1]);
  return Types{TensorType(dtype, std::move(y))};
}

double matmul_macs(const CostContext& context, size_t a) {
  const Shape& left = *context.inputs[a]->shape;
  return context.output_elements(0) * static_cast<double>(left[left.rank() - 1].size());
}

MatmulSizes MatmulSizes::of(Sizes a, Sizes b) {
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  MatmulSizes sizes;
  sizes.m = a[a.size() - 2];
  sizes.k = a.back();
  sizes.n = b.back();
  const Sizes a_batch(a.begin(), a.end() - 2);
  const Sizes b_batch(b.begin(), b.end() - 2);
  sizes.batch.resize(std::max(a_batch.size(), b_batch.size()));
  for (size_t i = 0; i < sizes.batch.size(); ++i) {  // from the last axis
    const int64_t x = i < a_batch.size() ? a_batch[a_batch.size() - 1 - i] : 1;
    const int64_t y = i < b_batch.size() ? b_batch[b_batch.size() - 1 - i] : 1;
    sizes.batch[sizes.batch.size() - 1 - i] = x == 1 ? y : x;
  }
  sizes.strides = {broadcast_strides(a_batch, sizes.batch),
                   broadcast_strides(b_batch, sizes.batch)};
  return sizes;
}

namespace {

Result<Types> infer_matmul(const InferContext& context) {
  ASSAY_TRY(expect_matrix_dtype(context));
  return matmul_types(context, 0, 1, context.type(0).dtype);
}

Cost cost_matmul(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = matmul_macs(context, 0);
  if (is_floating(context.inputs[0]->dtype)) cost.flops = 2 * cost.macs;
  return cost;
}

// A matrix with any strides, read in the accumulator's type.
template <class T>
struct Matrix {
  const T* data;
  int64_t row_stride, column_stride;
  Accumulator<T> operator()(int64_t row, int64_t column) const {
    return static_cast<Accumulator<T>>(data[row * row_stride + column * column_stride]);
  }
};

Result<void> kernel_matmul(const KernelContext& context) {
  const MatmulSizes s = MatmulSizes::of(input_shape(context, 0), input_shape(context, 1));
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    visit_products(s, [&](int64_t a, int64_t b, int64_t y) {
      const Matrix<T> left{input_data<T>(context, 0) + a * s.m * s.k, s.k, 1};
      const Matrix<T> right{input_data<T>(context, 1) + b * s.k * s.n, s.n, 1};
      T* out = output_data<T>(context, 0) + y * s.m * s.n;
      multiply<Accumulator<T>>(s.m, s.n, s.k, left, right,
                               [&](int64_t row, int64_t column, Accumulator<T> sum) {
                                 out[row * s.n + column] = static_cast<T>(sum);
                               });
    });
  });
}

struct GemmDims {
  Dim m, k, k_of_b, n;
};

GemmDims gemm_dims(const Attributes& attributes, const Shape& a, const Shape& b) {
  const size_t ta = attributes.integer("transA") != 0 ? 1 : 0;
  const size_t tb = attributes.integer("transB") != 0 ? 1 : 0;
  return {a[ta], a[1 - ta], b[tb], b[1 - tb]};
}

Result<Types> infer_gemm(const InferContext& context) {
  ASSAY_TRY(expect_matrix_dtype(context));
  ASSAY_TRY(expect_rank(context, 0, 2));
  ASSAY_TRY(expect_rank(context, 1, 2));
  const DType dtype = context.type(0).dtype;
  if (!context.type(0).shape || !context.type(1).shape) return Types{TensorType::unranked(dtype)};
  const GemmDims d = gemm_dims(context.attributes, *context.type(0).shape, *context.type(1).shape);
  if (!may_equal(d.k, d.k_of_b)) {
    Error error = inner_error(*context.type(0).shape, *context.type(1).shape);
    error.message +=
        " with attributes transA = " + std::to_string(context.attributes.integer("transA")) +
        ", transB = " + std::to_string(context.attributes.integer("transB"));
    return error;
  }
  const Shape y{d.m, d.n};
  if (context.has(2) && context.type(2).shape) {
    const Shape& c = *context.type(2).shape;
    auto combined = broadcast(y, c);
    if (!combined.ok() || combined->rank() != 2 || !may_equal((*combined)[0], d.m) ||
        !may_equal((*combined)[1], d.n)) {
      return invalid("input 2 has shape " + c.text() + ", which does not broadcast to " + y.text());
    }
  }
  return Types{TensorType(dtype, y)};
}

Cost cost_gemm(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const GemmDims d =
      gemm_dims(context.attributes, *context.inputs[0]->shape, *context.inputs[1]->shape);
  const double outputs = context.output_elements(0);
  cost.macs = outputs * static_cast<double>(d.k.size());
  cost.flops = 2 * cost.macs;
  if (context.attributes.number("alpha") != 1.0f) cost.flops += outputs;
  if (context.has(2)) {
    cost.flops += outputs;
    if (context.attributes.number("beta") != 1.0f) cost.flops += outputs;
  }
  return cost;
}

// Integers are multiplied exactly (modulo 2^n), scaled and shifted in double.
template <class T>
void gemm(const KernelContext& context) {
  using Exact = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  const Attributes& attributes = context.attributes;
  const bool ta = attributes.integer("transA") != 0;
  const bool tb = attributes.integer("transB") != 0;
  const Sizes& a = input_shape(context, 0);
  const Sizes& b = input_shape(context, 1);
  const Sizes& y = output_shape(context, 0);
  const Matrix<T> left{input_data<T>(context, 0), ta ? 1 : a[1], ta ? a[1] : 1};
  const Matrix<T> right{input_data<T>(context, 1), tb ? 1 : b[1], tb ? b[1] : 1};
  const T* c = context.has(2) ? input_data<T>(context, 2) : nullptr;
  const Sizes c_strides =
      c == nullptr ? Sizes{0, 0} : broadcast_strides(input_shape(context, 2), y);
  const auto alpha = static_cast<double>(attributes.number("alpha"));
  const auto beta = static_cast<double>(attributes.number("beta"));
  T* out = output_data<T>(context, 0);
  multiply<Accumulator<T>>(
      y[0], y[1], ta ? a[0] : a[1], left, right, [&](int64_t i, int64_t j, Accumulator<T> sum) {
        double value = alpha * static_cast<double>(static_cast<Exact>(sum));
        if (c != nullptr) {
          value += beta * static_cast<double>(c[i * c_strides[0] + j * c_strides[1]]);
        }
        out[i * y[1] + j] = from_double<T>(value);
      });
}

Result<void> kernel_gemm(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() { gemm<T>(context); });
}

}  // namespace

void add_matrix_ops(OpTable& table) {
  table.add({.type = "MatMul",
             .since_version = 13,
             .min_inputs = 2,
             .max_inputs = 2,
             .infer = infer_matmul,
             .cost = cost_matmul,
             .kernel = widen16<kernel_matmul>});
  table.add({.type = "Gemm",
             .since_version = 13,
             .min_inputs = 2,
             .max_inputs = 3,
             .attributes = {{"alpha", AttributeType::kFloat, 1.0f},
                            {"beta", AttributeType::kFloat, 1.0f},
                            {"transA", AttributeType::kInt, int64_t{0}},
                            {"transB", AttributeType::kInt, int64_t{0}}},
             .infer = infer_gemm,
             .cost = cost_gemm,
             .kernel = widen16<kernel_gemm>});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Det: the determinants of square matrices, by Gaussian elimination with partial pivoting.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_det(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  const size_t rank = x.shape->rank();
  if (rank < 2 || !may_equal((*x.shape)[rank - 1], (*x.shape)[rank - 2])) {
    return invalid("input 0 has shape " + x.shape->text() + ", which holds no square matrices");
  }
  const auto& dims = x.shape->dims();
  return Types{TensorType(x.dtype, Shape(std::vector<Dim>(dims.begin(), dims.end() - 2)))};
}

// n^3 / 3 multiply-adds a matrix, the leading term of an elimination.
Cost cost_det(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Shape& x = *context.inputs[0]->shape;
  const auto n = static_cast<double>(x[x.rank() - 1].size());
  cost.flops = context.output_elements(0) * 2 * n * n * n / 3;
  return cost;
}

double determinant(std::vector<double> m, size_t n) {
  double product = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::abs(m[row * n + column]) > std::abs(m[pivot * n + column])) pivot = row;
    }
    const double largest = m[pivot * n + column];
    if (largest == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(m.begin() + static_cast<ptrdiff_t>(pivot * n),
                       m.begin() + static_cast<ptrdiff_t>((pivot + 1) * n),
                       m.begin() + static_cast<ptrdiff_t>(column * n));
      product = -product;
    }
    product *= largest;
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = m[row * n + column] / largest;
      for (size_t k = column; k < n; ++k) m[row * n + k] -= factor * m[column * n + k];
    }
  }
  return product;
}

Result<void> kernel_det(const KernelContext& context) {
  const auto n = static_cast<size_t>(input_shape(context, 0).back());
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    for (T& y : context.outputs[0].values<T>()) {
      y = static_cast<T>(determinant(std::vector<double>(x, x + n * n), n));
      x += n * n;
    }
  });
}

}  // namespace

void add_determinant_ops(OpTable& table) {
  table.add({.type = "Det",
             .since_version = 11,
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_det,
             .cost = cost_det,
             .kernel = widen16<kernel_det>});
}

}  // namespace assay

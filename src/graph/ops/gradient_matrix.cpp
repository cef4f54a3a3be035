// SPDX-License-Identifier: Apache-2.0
//
// Gradients of matrix products: dA = dY B', dB = A' dY (Giles 2008, "Collected matrix derivative
// results for forward and reverse mode algorithmic differentiation", 2.2.2).
#include <numeric>

#include "graph/ops/gradient.h"

namespace assay {
namespace {

// The last two axes exchanged.
Result<ValueId> transposed(const Adjoint& a, ValueId value) {
  ASSAY_ASSIGN(const Shape shape, a.shape(value));
  std::vector<int64_t> order(shape.rank());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[shape.rank() - 1], order[shape.rank() - 2]);
  return a.add("Transpose", {value}, {{"perm", order}});
}

// All axes but the last made one.
ValueId flattened(const Adjoint& a, ValueId value, const Dim& last) {
  return a.add("Reshape", {value, a.integers({-1, last.size()})});
}

Result<void> gradient_matmul(const GradientContext& context) {
  const Adjoint a(context);
  ASSAY_ASSIGN(const Shape left, a.shape(a.x(0)));
  ASSAY_ASSIGN(const Shape right, a.shape(a.x(1)));
  // Vectors become matrices of one row or one column.
  ValueId lhs = a.x(0);
  ValueId rhs = a.x(1);
  ValueId dy = a.dy();
  if (right.rank() == 1) {
    rhs = a.add("Unsqueeze", {rhs, a.integers({1})});
    dy = a.add("Unsqueeze", {dy, a.integers({-1})});
  }
  if (left.rank() == 1) {
    lhs = a.add("Unsqueeze", {lhs, a.integers({0})});
    dy = a.add("Unsqueeze", {dy, a.integers({-2})});
  }
  if (a.wants(0)) {
    ASSAY_ASSIGN(const ValueId turned, transposed(a, rhs));
    ValueId dx = a.add("MatMul", {dy, turned});
    if (left.rank() == 1) dx = a.add("Squeeze", {dx, a.integers({-2})});
    ASSAY_TRY(a.give(0, dx));
  }
  if (!a.wants(1)) return {};
  // One product over all rows rather than a sum of products.
  if (right.rank() == 2 && left.rank() > 2 && left.dims().back().known() && right[1].known()) {
    lhs = flattened(a, lhs, left.dims().back());
    dy = flattened(a, dy, right[1]);
  }
  ASSAY_ASSIGN(const ValueId turned, transposed(a, lhs));
  ValueId dx = a.add("MatMul", {turned, dy});
  if (right.rank() == 1) dx = a.add("Squeeze", {dx, a.integers({-1})});
  return a.give(1, dx);
}

// Y = alpha A' B' + beta C, where ' transposes if the attribute says so.
Result<void> gradient_gemm(const GradientContext& context) {
  const Adjoint a(context);
  const bool turn_a = a.attributes().integer("transA") != 0;
  const bool turn_b = a.attributes().integer("transB") != 0;
  const auto product = [&](ValueId left, ValueId right, bool turn_left, bool turn_right) {
    return a.add("Gemm", {left, right},
                 {{"alpha", a.attributes().number("alpha")},
                  {"transA", static_cast<int64_t>(turn_left)},
                  {"transB", static_cast<int64_t>(turn_right)}});
  };
  if (a.wants(0)) {
    ASSAY_TRY(a.give(0, turn_a ? product(a.x(1), a.dy(), turn_b, true)
                               : product(a.dy(), a.x(1), false, !turn_b)));
  }
  if (a.wants(1)) {
    ASSAY_TRY(a.give(1, turn_b ? product(a.dy(), a.x(0), true, turn_a)
                               : product(a.x(0), a.dy(), !turn_a, false)));
  }
  if (a.wants(2)) {
    const auto beta = static_cast<double>(a.attributes().number("beta"));
    ASSAY_TRY(a.give(2, beta == 1 ? a.dy() : a.add("Mul", {a.dy(), a.number(beta, a.dy())})));
  }
  return {};
}

}  // namespace

void add_matrix_gradients(OpTable& table) {
  table.set_gradient("", "MatMul", gradient_matmul);
  table.set_gradient("", "Gemm", gradient_gemm);
}

}  // namespace assay

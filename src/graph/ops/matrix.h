// SPDX-License-Identifier: Apache-2.0
//
// What the matrix products share: NumPy's rules for shapes and batches, and the triple loop.
// Source: ONNX operator MatMul 13.
#pragma once

#include <array>
#include <cstdint>

#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {

// The shape of the product of two inputs, of element type `dtype`.
Result<Types> matmul_types(const InferContext& context, size_t a, size_t b, DType dtype);
// Multiply-adds of the product into output 0.
double matmul_macs(const CostContext& context, size_t a);

// A batch of products [m, k] x [k, n].
struct MatmulSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Sizes batch = {};
  std::array<Sizes, 2> strides = {};  // of the operands over the batch, in matrices

  static MatmulSizes of(Sizes a, Sizes b);
};

// Calls f(matrix of a, matrix of b, matrix of y) for each product of the batch.
template <class F>
void visit_products(const MatmulSizes& sizes, F&& f) {
  walk<2>(sizes.batch, sizes.strides,
          [&](int64_t i, const std::array<int64_t, 2>& at) { f(at[0], at[1], i); });
}

// store(row, column, sum) of left(row, p) * right(p, column) over p < k.
template <class Sum, class Left, class Right, class Store>
void multiply(int64_t m, int64_t n, int64_t k, Left&& left, Right&& right, Store&& store) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Sum sum{};
      for (int64_t p = 0; p < k; ++p) sum += left(i, p) * right(p, j);
      store(i, j, sum);
    }
  }
}

}  // namespace assay

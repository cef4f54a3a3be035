// SPDX-License-Identifier: Apache-2.0
//
// Small graphs whose results are known by hand.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder.h"

namespace assay::graphs {

// y = relu(x * w + b) over [batch, 2], w = [[1, 2], [3, 4]], b = [-10, 0.5].
inline Graph affine() {
  GraphBuilder b("affine");
  const ValueId x = b.input("x", {DType::kF32, {Dim::symbol("batch"), 2}});
  const std::array<float, 4> w = {1, 2, 3, 4};
  const std::array<float, 2> bias = {-10, 0.5F};
  const ValueId weight = b.parameter("w", {DType::kF32, {2, 2}},
                                     Initializer::of(Tensor::from<float>(DType::kF32, {2, 2}, w)));
  const ValueId shift = b.parameter("b", {DType::kF32, {2}},
                                    Initializer::of(Tensor::from<float>(DType::kF32, {2}, bias)));
  b.output(b.add("Relu", {b.add("Add", {b.add("MatMul", {x, weight}), shift})}), "y");
  return std::move(b).build();
}

// y = x + s, and the state s becomes y: it sums what it was given.
inline Graph running_sum() {
  GraphBuilder b("running-sum");
  const ValueId x = b.input("x", {DType::kF32, {2}});
  const ValueId s = b.state("s", {DType::kF32, {2}}, Initializer::zeros());
  const ValueId y = b.add("Add", {x, s});
  b.set_next(s, y);
  b.output(y, "y");
  return std::move(b).build();
}

inline Tensor vector(std::vector<float> values) {
  return Tensor::from<float>(DType::kF32, {static_cast<int64_t>(values.size())}, values);
}

inline Tensor matrix(int64_t rows, std::vector<float> values) {
  return Tensor::from<float>(DType::kF32, {rows, static_cast<int64_t>(values.size()) / rows},
                             values);
}

}  // namespace assay::graphs

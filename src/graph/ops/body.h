// SPDX-License-Identifier: Apache-2.0
//
// What control flow shares: bodies with their inputs' types and constants filled in, the types and
// cost of what they compute, and tensors taken apart and stacked along an axis.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {

struct BodyInputs {
  Types types;
  std::vector<const Tensor*> data;  // null where it is not known
};
BodyInputs body_inputs(std::span<const TensorType* const> types,
                       std::span<const Tensor* const> constants);

const Graph& body_of(const Attributes& attributes, std::string_view name);
// The body for these inputs; kInvalid when it has another number of them.
Result<Graph> specialized(const Attributes& attributes, std::string_view name,
                          const BodyInputs& inputs);
Types output_types(const Graph& graph);

// The sum of the nodes' costs; those with unknown shapes are left out and make it a lower bound.
Cost graph_cost(const Graph& graph);
Cost body_cost(const Attributes& attributes, std::string_view name, const BodyInputs& inputs);
// So many times; once, as a lower bound, when it is not known how often.
Cost repeated(Cost cost, std::optional<int64_t> times);

// What fits both; kInvalid when the element types differ.
Result<TensorType> common_type(const TensorType& a, const TensorType& b);
// A type with one dimension more at `axis`, which counts from the end when negative.
TensorType stacked_type(const TensorType& element, const Dim& count, int64_t axis);

// Tensors of one shape side by side along a new axis; kInvalid when their shapes differ. `element`
// is the type where there are none.
Result<Tensor> stacked(std::span<const Tensor> tensors, int64_t axis, const TensorType& element);
// The part of a tensor at one index of an axis, which is dropped.
Result<Tensor> part(const Tensor& tensor, size_t axis, int64_t index);

void add_scan_op(OpTable& table);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What the tensors that a file holds are to a graph: learned parameters, the states of batch
// normalisation, or constants. A file does not say; how they are used does:
//  - a batch normalisation's mean and variance are states;
//  - a tensor is a constant where it is a scalar, an integer (but for quantised weights and
//    biases), a scale, zero point, limit, ratio or size of some operator, or where a shape is
//    computed from it;
//  - any other is a parameter, also one that a Constant node holds.
// Linear in the size of the graph. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "onnx/records.h"

namespace assay::onnx {

enum class Role : uint8_t { kConstant, kParameter, kState };

class Roles {
 public:
  // Uses in subgraphs count as uses.
  explicit Roles(const GraphRecord& graph);

  Role of(const TensorRecord& tensor) const { return of(tensor, tensor.name); }
  Role of(const TensorRecord& tensor, std::string_view name) const;

 private:
  void visit(const GraphRecord& graph);
  void visit(const NodeRecord& node);
  void trace_shapes();

  std::unordered_map<std::string_view, const NodeRecord*> producers_;
  std::unordered_set<std::string_view> settings_;  // used as a scale, a limit ...
  std::unordered_set<std::string_view> states_;
  std::unordered_set<std::string_view> weights_;  // used as an integer weight
  std::unordered_set<std::string_view> shaping_;  // shapes are computed from them
};

}  // namespace assay::onnx

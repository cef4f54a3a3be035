// SPDX-License-Identifier: Apache-2.0
//
// Upgrades: a node of an older opset becomes a node, or a few, of the internal opset that compute
// the same. One row an operator and change, in the tables of upgrade_*.cpp; a node goes through all
// rows newer than itself, oldest first. Source of the changes: ONNX's operator changelog.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"

namespace assay::onnx {

// A node on its way into a graph. Upgrades change it, add nodes before it, or wrap what it gives.
struct PendingNode {
  GraphBuilder& builder;
  std::string type;
  int64_t opset = 0;
  std::vector<ValueId> inputs;
  Attributes attributes;
  GraphBuilder::Names names;
  // Applied to its outputs in reverse order; the last one takes the names.
  using Finish = std::function<Result<std::vector<ValueId>>(GraphBuilder&, std::vector<ValueId>,
                                                            GraphBuilder::Names)>;
  std::vector<Finish> finish = {};

  bool has(size_t input) const { return input < inputs.size() && inputs[input] != kNoValue; }
  const TensorType& input_type(size_t input) const { return builder.type(inputs[input]); }
  // The data of an input that is a constant, else null.
  const Tensor* constant(size_t input) const;
  // Sets input `input`, omitting those between.
  void set_input(size_t input, ValueId value);
  ValueId add_constant(std::string_view role, Tensor data);
  // A scalar of the first input's type.
  ValueId add_scalar(std::string_view role, float value);
  // The attribute, if it is there, becomes input `input`: a list of i64 (of one, for an int).
  Result<void> move_integers(std::string_view attribute, size_t input);
  // The attribute, removed; `fallback` where it is absent or of another type.
  template <class T>
  T take(std::string_view attribute, T fallback) {
    const std::optional<Attribute> value = attributes.take(attribute);
    return value && std::holds_alternative<T>(*value) ? std::get<T>(*value) : fallback;
  }
  // A node before this one; the error is that of try_add.
  Result<ValueId> add(std::string_view type, std::vector<ValueId> inputs,
                      Attributes attributes = {});
  Error wrong(std::string message) const;
  Error unsupported(std::string message) const;
};

using UpgradeFunction = Result<void> (*)(PendingNode&);

struct Upgrade {
  std::string_view type;
  int since = 0;  // the version that brought the change: older nodes need it
  UpgradeFunction apply = nullptr;
};

// The tables, one a family of changes, each sorted as it is to be applied.
std::span<const Upgrade> broadcast_upgrades();  // opsets before numpy's broadcasting
std::span<const Upgrade> operand_upgrades();    // attributes that became inputs
std::span<const Upgrade> meaning_upgrades();    // attributes and defaults that changed

// Adds the node, upgraded.
Result<std::vector<ValueId>> add_upgraded(PendingNode node);

}  // namespace assay::onnx

// SPDX-License-Identifier: Apache-2.0
//
// Graph: every network, kernel and ONNX file. Values are in single assignment; nodes are stored in
// a topological order. A Graph is immutable once built (GraphBuilder builds, passes make new ones)
// and then safe to share between threads. Operators have ONNX's semantics at one internal opset;
// our own live in domain "assay".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attribute.h"
#include "graph/initializer.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace assay {

struct OpEntry;

// The opset of the default domain that node semantics follow.
inline constexpr int kInternalOpset = 21;

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = 0xffffffffu;  // an omitted optional input or output

enum class ValueKind : uint8_t {
  kInput,      // given by the caller at every run
  kParameter,  // learned; has an initialiser recipe, need not exist to be counted
  kState,      // changed by running: batch-norm statistics, averages, loss scale, optimiser moments
  kRandomKey,  // u32[2] given by the engine at every run; drives counter-based random operators
  kConstant,   // its data is in the graph
  kComputed,   // the output of a node
};

struct Value {
  std::string name;
  TensorType type;
  ValueKind kind = ValueKind::kComputed;
  uint32_t producer = 0;  // when kComputed: node index; when kConstant: index in constants()
  uint32_t output_index = 0;
};

struct Node {
  std::string name;
  const OpEntry* op =
      nullptr;  // never null; of the operator table, or of the graph's unknown_ops()
  std::vector<ValueId> inputs;  // kNoValue where an optional one is omitted
  std::vector<ValueId> outputs;
  Attributes attributes;
};

struct Parameter {
  ValueId value = kNoValue;
  Initializer initializer;
  bool trainable = true;
};

struct State {
  ValueId value = kNoValue;
  ValueId next = kNoValue;  // the value it has after a run; kNoValue: unchanged
  Initializer initializer;
};

struct Constant {
  ValueId value = kNoValue;
  Tensor data;
};

class Graph {
 public:
  const std::string& name() const { return name_; }
  std::span<const Value> values() const { return values_; }
  const Value& value(ValueId id) const { return values_[id]; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> random_keys() const { return random_keys_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  std::span<const State> states() const { return states_; }
  std::span<const Constant> constants() const { return constants_; }
  std::span<const ValueId> outputs() const { return outputs_; }
  std::optional<ValueId> find_value(std::string_view name) const;  // linear in the number of values
  const Tensor* constant_data(ValueId id) const;                   // null unless kConstant
  // Operators that the table does not have, as files name them: no inference, cost or kernel.
  std::span<const std::shared_ptr<const OpEntry>> unknown_ops() const { return unknown_ops_; }
  // The graph's own entry of the node's operator; null where the table has it.
  std::shared_ptr<const OpEntry> unknown_op(const Node& node) const;

 private:
  friend class GraphBuilder;
  std::string name_;
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> random_keys_;
  std::vector<Parameter> parameters_;
  std::vector<State> states_;
  std::vector<Constant> constants_;  // by value
  std::vector<ValueId> outputs_;
  std::vector<std::shared_ptr<const OpEntry>> unknown_ops_;
};

// The text that digests are taken of: every value, node, attribute, initialiser and constant in a
// canonical order and form. Names of computed values do not matter; names of parameters do.
std::string canonical_text(const Graph& graph);

}  // namespace assay

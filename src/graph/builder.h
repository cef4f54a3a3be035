// SPDX-License-Identifier: Apache-2.0
//
// GraphBuilder makes Graphs: it checks attributes against the operator table, infers the types of
// outputs as nodes are added, folds shape arithmetic on constants, and keeps names unique. Models
// use add(), which asserts (a wrong model is a programming error) and readers of outside data use
// try_add(), which reports node and attribute. A value is computed once; adding a node costs a few
// microseconds. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/operator.h"

namespace assay {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);

  // Names of inputs, keys, parameters and states are the caller's to keep apart: a second value of
  // the same name is a programming error.
  ValueId input(std::string name, TensorType type);
  ValueId random_key(std::string name);
  ValueId parameter(std::string name, TensorType type, Initializer initializer,
                    bool trainable = true);
  ValueId state(std::string name, TensorType type, Initializer initializer);
  void set_next(ValueId state, ValueId next);
  ValueId constant(std::string name, Tensor data);
  ValueId scalar(float value);  // an f32 constant, shared

  // One node; returns its first output. `name` empty: made from the type and a number. `type` is
  // "Conv", or "assay.Dropout" for an operator of a domain other than ONNX's.
  ValueId add(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {},
              const std::string& name = "");
  std::vector<ValueId> add_multi(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                 Attributes attributes = {}, const std::string& name = "");
  // The same for outside data. Errors are kInvalid or kUnsupported, with the place "node NAME
  // (TYPE)". `outputs` may be fewer than the operator has. A node whose inputs are all constants
  // and whose outputs are small becomes constants.
  Result<std::vector<ValueId>> try_add(std::string_view domain, std::string_view type,
                                       std::vector<ValueId> inputs, size_t outputs,
                                       Attributes attributes, const std::string& name);

  // The same with an operator of the table and the file's own names. `names.outputs` says how many
  // outputs there are; an empty name is made up.
  struct Names {
    std::string node;
    std::vector<std::string> outputs;
  };
  Result<std::vector<ValueId>> try_add(const OpEntry& op, std::vector<ValueId> inputs,
                                       Attributes attributes, Names names);
  // A node that nothing is known about but what a file says: one output a type. Its operator has no
  // entry in the table.
  std::vector<ValueId> add_unknown(const std::shared_ptr<const OpEntry>& op,
                                   std::vector<ValueId> inputs, std::vector<TensorType> types,
                                   Attributes attributes, Names names);

  // An output of a node that was omitted when it was added, now asked for.
  ValueId demand_output(uint32_t node, size_t output);

  // Also names it, if a name is given: a computed value that had the name gets another.
  void output(ValueId value, std::string name = "");
  void rename(ValueId value, std::string name);  // made unique
  bool has_name(std::string_view name) const { return names_.contains(name); }
  const TensorType& type(ValueId value) const { return graph_.values_[value].type; }
  const Graph& peek() const { return graph_; }

  Graph build() &&;

 private:
  ValueId new_value(std::string name, TensorType type, ValueKind kind);
  ValueId new_source(std::string name, TensorType type, ValueKind kind);
  std::string unique_name(std::string name);
  void take_name(const std::string& name);  // free it
  Result<void> check_arity(const OpEntry& op, std::span<const ValueId> inputs,
                           size_t outputs) const;
  Result<std::vector<TensorType>> infer(const OpEntry& op, std::span<const ValueId> inputs,
                                        size_t outputs, const Attributes& attributes) const;
  // Constants in place of the node, or nothing when it cannot be folded.
  std::vector<ValueId> fold(const OpEntry& op, std::span<const ValueId> inputs,
                            std::span<const TensorType> types, const Attributes& attributes,
                            const Names& names);
  std::vector<ValueId> append(const OpEntry& op, std::vector<ValueId> inputs,
                              std::vector<TensorType> types, Attributes attributes, Names names);
  Graph graph_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, int, std::less<>> suffixes_;  // the last number given to a name
  std::map<uint32_t, ValueId> scalars_;               // by the bits of their value
  std::set<ValueId> outputs_;
};

}  // namespace assay

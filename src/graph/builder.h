// SPDX-License-Identifier: Apache-2.0
//
// GraphBuilder makes Graphs: it checks attributes against the operator table, infers the types of
// outputs as nodes are added, folds shape arithmetic on constants, and keeps names unique. Models
// use add(), which asserts (a wrong model is a programming error) and readers of outside data use
// try_add(), which reports node and attribute. Not thread-safe.
#pragma once

#include <initializer_list>
#include <set>
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

  ValueId input(std::string name, TensorType type);
  ValueId random_key(std::string name);
  ValueId parameter(std::string name, TensorType type, Initializer initializer,
                    bool trainable = true);
  ValueId state(std::string name, TensorType type, Initializer initializer);
  void set_next(ValueId state, ValueId next);
  ValueId constant(std::string name, Tensor data);
  ValueId scalar(float value);  // an f32 constant, shared

  // One node; returns its first output. `name` empty: made from the type and a number.
  ValueId add(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {},
              std::string name = "");
  std::vector<ValueId> add_multi(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                 Attributes attributes = {}, std::string name = "");
  Result<std::vector<ValueId>> try_add(std::string_view domain, std::string_view type,
                                       std::vector<ValueId> inputs, size_t outputs,
                                       Attributes attributes, std::string name);

  void output(ValueId value, std::string name = "");  // also renames, if a name is given
  const TensorType& type(ValueId value) const { return graph_.values_[value].type; }
  const Graph& peek() const { return graph_; }

  Graph build() &&;

 private:
  ValueId new_value(std::string name, TensorType type, ValueKind kind);
  std::string unique_name(std::string name);
  Graph graph_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace assay

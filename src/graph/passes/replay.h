// SPDX-License-Identifier: Apache-2.0
//
// Replay copies a graph into a builder piece by piece: what most passes do, with something changed
// on the way. Names are kept. Types are inferred again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/graph.h"

namespace assay {

class Replay {
 public:
  explicit Replay(const Graph& graph);

  GraphBuilder& builder() { return builder_; }
  // What a value of the old graph is in the new one; kNoValue for kNoValue.
  ValueId of(ValueId old) const { return old == kNoValue ? kNoValue : map_[old]; }

  // From now on the old value is another one than its image.
  void replace(ValueId old, ValueId now) { map_[old] = now; }

  // These in place of the initialisers of parameters and states.
  void use_initializers(std::map<ValueId, Initializer> initializers) {
    initializers_ = std::move(initializers);
  }
  // Declares inputs, keys, states, and those parameters and constants that `wanted` accepts.
  // `retype` gives the type of each.
  void sources(const std::function<TensorType(const Value&)>& retype,
               const std::function<bool(ValueId)>& wanted);
  void sources();  // all, unchanged
  // The node on these inputs (in the new graph); its outputs keep their names.
  Result<void> node(const Node& node, std::vector<ValueId> inputs);
  Result<void> node(const Node& node);  // on the images of its inputs
  // Outputs and next states, as images of the old ones passed through `convert` (which may add
  // nodes); and the result.
  Graph finish(const std::function<ValueId(ValueId old, ValueId now)>& convert);
  Graph finish();

 private:
  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<ValueId> map_;
  std::function<TensorType(const Value&)> retype_;
  std::map<ValueId, Initializer> initializers_;
};

}  // namespace assay

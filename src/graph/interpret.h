// SPDX-License-Identifier: Apache-2.0
//
// Running graphs with the reference kernels, node by node. At every node the types of the outputs
// are inferred from the tensors that are really there, so that only what depends on data (NonZero)
// is not known before its kernel runs. Every value has one allocation, made when its node runs and
// released after its last use; views share their source's. A TensorMeter sees exactly that, except
// for the f32 copies that 16-bit operands are computed in.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/operator.h"

namespace assay {

// One operator on these inputs (null where omitted): `types` are those of the outputs as far as
// they are known. kInvalid when the data is not what the operator takes, kUnsupported without a
// kernel.
Result<std::vector<Tensor>> run_operator(const OpEntry& op, std::span<const Tensor* const> inputs,
                                         std::span<const TensorType> types,
                                         const Attributes& attributes);

// The same for a node of a graph, with the types inferred; outputs that are omitted are empty.
// Errors have the node's name as their place.
Result<std::vector<Tensor>> run_node(const Node& node, std::span<const Tensor* const> inputs);

// For each node, the computed values that nothing needs after it. Outputs and next states live on.
std::vector<std::vector<ValueId>> last_uses(const Graph& graph);

// A graph ready to run any number of times. It holds a reference to the graph, and is safe to share
// between threads.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph) : graph_(graph), dies_after_(last_uses(graph)) {}

  const Graph& graph() const { return graph_; }
  // `values` are by id, with inputs, keys, parameters and states filled in (constants need not be).
  // Afterwards outputs and next states are there, other computed values are empty.
  Result<void> run(std::vector<Tensor>& values) const;
  // The outputs for these inputs, which must have the graph's types. Parameters and states must
  // have given initialisers, and there may be no random keys: a model file.
  Result<std::vector<Tensor>> outputs(std::span<const Tensor> inputs) const;
  // The same for the body of control flow, whose inputs may change their shapes from run to run.
  Result<std::vector<Tensor>> body_outputs(std::span<const Tensor> inputs) const;

 private:
  const Graph& graph_;
  std::vector<std::vector<ValueId>> dies_after_;
};

// Interpreter(graph).outputs(inputs).
Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {

Result<Graph> specialize(const Graph& graph, std::span<const TensorType> inputs,
                         std::span<const Tensor* const> data) {
  if (inputs.size() != graph.inputs().size()) {
    return Error{ErrorCode::kInvalid,
                 "a graph of " + std::to_string(graph.inputs().size()) + " inputs is given " +
                     std::to_string(inputs.size()),
                 graph.name()};
  }
  const auto retype = [&](const Value& value) {
    const auto id = static_cast<ValueId>(&value - graph.values().data());
    const auto input = std::ranges::find(graph.inputs(), id);
    return input == graph.inputs().end()
               ? value.type
               : inputs[static_cast<size_t>(std::distance(graph.inputs().begin(), input))];
  };
  Replay replay(graph);
  replay.sources(retype, [](ValueId) { return true; });
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] == nullptr) continue;
    replay.replace(graph.inputs()[i], replay.builder().constant("given", *data[i]));
  }
  for (const Node& node : graph.nodes()) ASSAY_TRY(replay.node(node));
  for (const ValueId id : graph.outputs()) replay.builder().output(replay.of(id));
  return std::move(replay.builder()).build();
}

}  // namespace assay

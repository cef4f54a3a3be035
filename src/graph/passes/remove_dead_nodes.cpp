// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {

Graph remove_dead_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.values().size(), false);
  const auto need = [&](ValueId id) {
    if (id != kNoValue) needed[id] = true;
  };
  for (const ValueId id : graph.outputs()) need(id);
  for (const State& state : graph.states()) need(state.next);
  std::vector<bool> alive(graph.nodes().size(), false);
  for (size_t i = graph.nodes().size(); i-- > 0;) {  // consumers come after producers
    const Node& node = graph.nodes()[i];
    for (const ValueId id : node.outputs) alive[i] = alive[i] || (id != kNoValue && needed[id]);
    if (!alive[i]) continue;
    for (const ValueId id : node.inputs) need(id);
  }
  Replay replay(graph);
  replay.sources(
      [](const Value& value) { return value.type; },
      [&](ValueId id) { return needed[id] || graph.value(id).kind == ValueKind::kParameter; });
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!alive[i]) continue;
    const auto copied = replay.node(graph.nodes()[i]);
    ASSAY_ASSERT(copied.ok(), copied.error().text());  // it was inferred once
  }
  return replay.finish();
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "graph/initializer.h"
#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {

Result<Graph> materialize_weights(const Graph& graph, RandomKey seed) {
  std::map<ValueId, Initializer> given;
  const auto draw = [&](ValueId id, const Initializer& recipe) -> Result<void> {
    const Value& value = graph.value(id);
    ASSAY_ASSIGN(Tensor tensor, materialize(recipe, value.type, seed, value.name));
    given.emplace(id, Initializer::of(std::move(tensor)));
    return {};
  };
  for (const Parameter& p : graph.parameters()) ASSAY_TRY(draw(p.value, p.initializer));
  for (const State& s : graph.states()) ASSAY_TRY(draw(s.value, s.initializer));
  Replay replay(graph);
  replay.use_initializers(std::move(given));
  replay.sources();
  for (const Node& node : graph.nodes()) ASSAY_TRY(replay.node(node));
  return replay.finish();
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "graph/count.h"

#include <algorithm>

#include "graph/memory.h"

namespace assay {
namespace {

int64_t bytes_of(const Graph& graph, ValueId id) { return *graph.value(id).type.bytes(); }

void count_parameters(const Graph& graph, GraphCount& count) {
  for (const Parameter& parameter : graph.parameters()) {
    const int64_t elements = *graph.value(parameter.value).type.shape->elements();
    count.parameters += elements;
    if (parameter.trainable) count.trainable_parameters += elements;
    count.parameter_bytes += bytes_of(graph, parameter.value);
  }
}

}  // namespace

bool is_countable(const Graph& graph, const Node& node) {
  const auto known = [&graph](ValueId id) {
    return id == kNoValue || graph.value(id).type.known();
  };
  return graph.unknown_op(node) == nullptr && std::ranges::all_of(node.inputs, known) &&
         std::ranges::all_of(node.outputs, known);
}

Result<GraphCount> count(const Graph& graph) {
  ASSAY_TRY(plan_memory(graph));
  return count_known(graph);
}

GraphCount count_known(const Graph& graph) {
  const MemoryPlan memory = plan_known_memory(graph);
  GraphCount total;
  total.nodes = static_cast<int64_t>(graph.nodes().size());
  total.activation_bytes = memory.activation_bytes;
  total.peak_bytes = memory.peak.total();
  count_parameters(graph, total);
  for (const Node& node : graph.nodes()) {
    const bool countable = is_countable(graph, node);
    if (!countable) ++total.uncounted_nodes;
    const Cost cost = countable ? node_cost(graph, node) : Cost();
    total.macs += cost.macs;
    total.flops += cost.flops;
    total.transcendentals += cost.transcendentals;
    total.read_bytes += cost.read_bytes;
    total.write_bytes += cost.write_bytes;
    total.lower_bound = total.lower_bound || cost.lower_bound;
  }
  return total;
}

}  // namespace assay

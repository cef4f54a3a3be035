// SPDX-License-Identifier: Apache-2.0
#include "graph/count.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace assay {
namespace {

Result<void> check_known(const Graph& graph) {
  for (const Value& value : graph.values()) {
    if (value.type.known()) continue;
    return Error{ErrorCode::kUnsupported, "the shape " + value.type.text() + " is not known",
                 "value '" + value.name + "'", "bind its dimensions, as in --bind batch=1"};
  }
  return {};
}

int64_t bytes_of(const Graph& graph, ValueId id) { return *graph.value(id).type.bytes(); }

void count_parameters(const Graph& graph, GraphCount& count) {
  for (const Parameter& parameter : graph.parameters()) {
    const int64_t elements = *graph.value(parameter.value).type.shape->elements();
    count.parameters += elements;
    if (parameter.trainable) count.trainable_parameters += elements;
    count.parameter_bytes += bytes_of(graph, parameter.value);
  }
}

// What is there during the whole run: all values that no node computes.
int64_t resident_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (ValueId id = 0; id < graph.values().size(); ++id) {
    if (graph.value(id).kind != ValueKind::kComputed) bytes += bytes_of(graph, id);
  }
  return bytes;
}

// The value whose memory each value uses: itself, or what it is a view of.
std::vector<ValueId> storages(const Graph& graph) {
  std::vector<ValueId> storage(graph.values().size());
  std::iota(storage.begin(), storage.end(), ValueId{0});
  for (const Node& node : graph.nodes()) {
    if (node.op->is_view) storage[node.outputs[0]] = storage[node.inputs[0]];
  }
  return storage;
}

// The largest sum of live computed values: each is live from the node that computes it to its last
// use, outputs and next states to the end.
int64_t peak_of_computed(const Graph& graph, const std::vector<ValueId>& storage) {
  const size_t nodes = graph.nodes().size();
  std::vector<size_t> last_use(graph.values().size(), 0);
  const auto use = [&](ValueId id, size_t when) {
    if (id != kNoValue) last_use[storage[id]] = std::max(last_use[storage[id]], when);
  };
  for (size_t i = 0; i < nodes; ++i) {
    for (const ValueId id : graph.nodes()[i].inputs) use(id, i);
    for (const ValueId id : graph.nodes()[i].outputs) use(id, i);
  }
  for (const ValueId id : graph.outputs()) use(id, nodes);
  for (const State& state : graph.states()) use(state.next, nodes);

  std::vector<int64_t> freed(nodes + 1, 0);
  int64_t live = 0;
  int64_t peak = 0;
  for (size_t i = 0; i < nodes; ++i) {
    for (const ValueId id : graph.nodes()[i].outputs) {
      if (id == kNoValue || storage[id] != id) continue;
      live += bytes_of(graph, id);
      freed[last_use[id]] += bytes_of(graph, id);
    }
    peak = std::max(peak, live);
    live -= freed[i];
  }
  return peak;
}

}  // namespace

Result<GraphCount> count(const Graph& graph) {
  ASSAY_TRY(check_known(graph));
  GraphCount total;
  total.nodes = static_cast<int64_t>(graph.nodes().size());
  count_parameters(graph, total);
  const std::vector<ValueId> storage = storages(graph);
  for (const Node& node : graph.nodes()) {
    const Cost cost = node_cost(graph, node);
    total.macs += cost.macs;
    total.flops += cost.flops;
    total.transcendentals += cost.transcendentals;
    total.read_bytes += cost.read_bytes;
    total.write_bytes += cost.write_bytes;
    total.lower_bound = total.lower_bound || cost.lower_bound;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue && storage[id] == id) total.activation_bytes += bytes_of(graph, id);
    }
  }
  total.peak_bytes = resident_bytes(graph) + peak_of_computed(graph, storage);
  return total;
}

}  // namespace assay

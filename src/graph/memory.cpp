// SPDX-License-Identifier: Apache-2.0
#include "graph/memory.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "graph/operator.h"

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

// 0 where it is not known.
int64_t bytes_of(const Graph& graph, ValueId id) {
  const auto bytes = graph.value(id).type.bytes();
  return bytes.ok() ? *bytes : 0;
}

// What is there during the whole run.
MemoryUseByPurpose resident(const Graph& graph) {
  MemoryUseByPurpose use;
  for (ValueId id = 0; id < graph.values().size(); ++id) {
    const int64_t bytes = bytes_of(graph, id);
    switch (graph.value(id).kind) {
      case ValueKind::kParameter:
        use.parameters += bytes;
        break;
      case ValueKind::kState:
        use.states += bytes;
        break;
      case ValueKind::kConstant:
        use.constants += bytes;
        break;
      case ValueKind::kInput:
      case ValueKind::kRandomKey:
        use.inputs += bytes;
        break;
      case ValueKind::kComputed:
        break;
    }
  }
  return use;
}

// The index of the last node that needs each storage; the number of nodes when it lives on.
std::vector<size_t> last_needs(const Graph& graph, const std::vector<ValueId>& storage) {
  std::vector<size_t> last(graph.values().size(), 0);
  const auto need = [&](ValueId id, size_t when) {
    if (id != kNoValue) last[storage[id]] = std::max(last[storage[id]], when);
  };
  const size_t nodes = graph.nodes().size();
  for (size_t i = 0; i < nodes; ++i) {
    for (const ValueId id : graph.nodes()[i].inputs) need(id, i);
    for (const ValueId id : graph.nodes()[i].outputs) need(id, i);
  }
  for (const ValueId id : graph.outputs()) need(id, nodes);
  for (const State& state : graph.states()) need(state.next, nodes);
  return last;
}

// What the kernel allocates beside the outputs that are kept: its own workspace, and outputs that
// are computed although nobody takes them.
int64_t workspace_of(const Graph& graph, const Node& node) {
  const bool omits = std::ranges::find(node.outputs, kNoValue) != node.outputs.end();
  if (node.op->workspace == nullptr && !omits) return 0;
  const auto known = [&graph](ValueId id) {
    return id == kNoValue || graph.value(id).type.known();
  };
  if (!std::ranges::all_of(node.inputs, known)) return 0;
  std::vector<const TensorType*> inputs;
  std::vector<const TensorType*> outputs;
  std::vector<const Tensor*> constants;
  const auto type = [&](ValueId id) { return id == kNoValue ? nullptr : &graph.value(id).type; };
  std::ranges::transform(node.inputs, std::back_inserter(inputs), type);
  std::ranges::transform(node.outputs, std::back_inserter(outputs), type);
  for (const ValueId id : node.inputs) constants.push_back(graph.constant_data(id));
  int64_t bytes = node.op->workspace == nullptr
                      ? 0
                      : node.op->workspace({inputs, outputs, node.attributes, constants});
  if (!omits) return bytes;
  const auto types = node.op->infer({inputs, constants, node.attributes, node.outputs.size()});
  for (size_t i = 0; types.ok() && i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue && (*types)[i].known()) bytes += *(*types)[i].bytes();
  }
  return bytes;
}

}  // namespace

std::vector<ValueId> storages(const Graph& graph) {
  std::vector<ValueId> storage(graph.values().size());
  std::iota(storage.begin(), storage.end(), ValueId{0});
  for (const Node& node : graph.nodes()) {
    if (node.op->is_view) storage[node.outputs[0]] = storage[node.inputs[0]];
  }
  return storage;
}

Result<MemoryPlan> plan_memory(const Graph& graph) {
  ASSAY_TRY(check_known(graph));
  return plan_known_memory(graph);
}

MemoryPlan plan_known_memory(const Graph& graph) {
  const std::vector<ValueId> storage = storages(graph);
  const std::vector<size_t> last = last_needs(graph, storage);
  MemoryPlan plan;
  plan.peak = resident(graph);
  std::vector<int64_t> freed(graph.nodes().size() + 1, 0);
  int64_t live = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (const ValueId id : node.outputs) {
      if (id == kNoValue || storage[id] != id) continue;
      const int64_t bytes = bytes_of(graph, id);
      live += bytes;
      plan.activation_bytes += bytes;
      freed[last[id]] += bytes;
    }
    const int64_t workspace = workspace_of(graph, node);
    if (live + workspace > plan.peak.activations + plan.peak.workspace) {
      plan.peak.activations = live;
      plan.peak.workspace = workspace;
      plan.peak_node = static_cast<uint32_t>(i);
    }
    live -= freed[i];
  }
  return plan;
}

Result<BatchFit> largest_batch(const std::function<Result<Graph>(int64_t)>& bound, int64_t bytes,
                               int64_t limit) {
  BatchFit best;
  const auto fits = [&](int64_t batch) -> Result<bool> {
    ASSAY_ASSIGN(const Graph graph, bound(batch));
    auto plan = plan_memory(graph);
    if (!plan.ok()) return std::move(plan).error();
    const bool enough = plan->peak.total() <= bytes;
    if (enough || batch == 1) best = {enough ? batch : 0, *plan};
    return enough;
  };
  ASSAY_ASSIGN(const bool one, fits(1));
  if (!one) return best;
  int64_t too_many = 2;  // the smallest batch known not to fit, once it is known
  while (too_many <= limit) {
    ASSAY_ASSIGN(const bool enough, fits(too_many));
    if (!enough) break;
    too_many *= 2;
  }
  too_many = std::min(too_many, limit + 1);
  while (best.batch + 1 < too_many) {
    const int64_t middle = best.batch + (too_many - best.batch) / 2;
    ASSAY_ASSIGN(const bool enough, fits(middle));
    if (!enough) too_many = middle;
  }
  return best;
}

}  // namespace assay

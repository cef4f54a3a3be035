// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/replay.h"

#include <algorithm>

namespace assay {

Replay::Replay(const Graph& graph)
    : graph_(graph), builder_(graph.name()), map_(graph.values().size(), kNoValue) {}

void Replay::sources(const std::function<TensorType(const Value&)>& retype,
                     const std::function<bool(ValueId)>& wanted) {
  retype_ = retype;
  const auto initializer = [&](ValueId id, const Initializer& own) {
    const auto found = initializers_.find(id);
    return found == initializers_.end() ? own : found->second;
  };
  for (const ValueId id : graph_.inputs()) {
    map_[id] = builder_.input(graph_.value(id).name, retype(graph_.value(id)));
  }
  for (const ValueId id : graph_.random_keys()) {
    map_[id] = builder_.random_key(graph_.value(id).name);
  }
  for (const Parameter& p : graph_.parameters()) {
    if (!wanted(p.value)) continue;
    const Value& value = graph_.value(p.value);
    map_[p.value] = builder_.parameter(value.name, retype(value),
                                       initializer(p.value, p.initializer), p.trainable);
  }
  for (const State& s : graph_.states()) {
    const Value& value = graph_.value(s.value);
    map_[s.value] = builder_.state(value.name, retype(value), initializer(s.value, s.initializer));
  }
  for (const Constant& c : graph_.constants()) {
    if (wanted(c.value)) {
      map_[c.value] = builder_.constant(graph_.value(c.value).name, c.data);
    }
  }
}

void Replay::sources() {
  sources([](const Value& value) { return value.type; }, [](ValueId) { return true; });
}

Result<void> Replay::node(const Node& node, std::vector<ValueId> inputs) {
  GraphBuilder::Names names{node.name, std::vector<std::string>(node.outputs.size())};
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) names.outputs[i] = graph_.value(node.outputs[i]).name;
  }
  std::vector<ValueId> outputs;
  if (const auto unknown = graph_.unknown_op(node)) {
    std::vector<TensorType> types;
    types.reserve(node.outputs.size());
    for (const ValueId id : node.outputs) types.push_back(retype_(graph_.value(id)));
    outputs = builder_.add_unknown(unknown, std::move(inputs), std::move(types), node.attributes,
                                   std::move(names));
  } else {
    ASSAY_ASSIGN(outputs,
                 builder_.try_add(*node.op, std::move(inputs), node.attributes, std::move(names)));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) map_[node.outputs[i]] = outputs[i];
  }
  return {};
}

Result<void> Replay::node(const Node& node) {
  std::vector<ValueId> inputs;
  inputs.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) inputs.push_back(of(id));
  return this->node(node, std::move(inputs));
}

Graph Replay::finish(const std::function<ValueId(ValueId, ValueId)>& convert) {
  for (const ValueId id : graph_.outputs()) {
    builder_.output(convert(id, of(id)), graph_.value(id).name);
  }
  for (const State& s : graph_.states()) {
    if (s.next != kNoValue) builder_.set_next(of(s.value), convert(s.next, of(s.next)));
  }
  return std::move(builder_).build();
}

Graph Replay::finish() {
  return finish([](ValueId, ValueId now) { return now; });
}

}  // namespace assay

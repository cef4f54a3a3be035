// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "graph/interpret.h"
#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {
namespace {

// The data of a node's inputs in the new graph; nothing unless all of it is constant.
std::optional<std::vector<const Tensor*>> constant_inputs(Replay& replay, const Node& node) {
  std::vector<const Tensor*> data;
  for (const ValueId old : node.inputs) {
    const Tensor* constant = replay.builder().peek().constant_data(replay.of(old));
    if (constant == nullptr && old != kNoValue) return std::nullopt;
    data.push_back(constant);
  }
  if (data.empty()) return std::nullopt;
  return data;
}

bool foldable(const OpEntry& op) { return op.kernel != nullptr && !op.is_random && !has_body(op); }

// The node's outputs, where it can be run and they are not larger than the limit.
std::optional<std::vector<Tensor>> folded(Replay& replay, const Node& node, int64_t largest) {
  if (!foldable(*node.op)) return std::nullopt;
  const auto data = constant_inputs(replay, node);
  if (!data) return std::nullopt;
  std::vector<Tensor> aligned;  // a constant may lie anywhere in a file
  aligned.reserve(data->size());
  std::vector<const Tensor*> inputs;
  std::vector<TensorType> types;
  for (const Tensor* tensor : *data) {
    aligned.push_back(tensor == nullptr ? Tensor() : tensor->aligned());
    types.push_back(aligned.back().type());
    inputs.push_back(tensor == nullptr ? nullptr : &aligned.back());
  }
  std::vector<const TensorType*> pointers;
  for (size_t i = 0; i < types.size(); ++i) {
    pointers.push_back(inputs[i] == nullptr ? nullptr : &types[i]);
  }
  const auto results = node.op->infer({pointers, inputs, node.attributes, node.outputs.size()});
  if (!results.ok()) return std::nullopt;
  for (const TensorType& type : *results) {
    if (type.known() && !(type.bytes().ok() && *type.bytes() <= largest)) return std::nullopt;
  }
  auto outputs = run_node(node, inputs);
  if (!outputs.ok()) return std::nullopt;
  const bool small = std::ranges::all_of(
      *outputs, [&](const Tensor& t) { return t.empty() || t.bytes() <= largest; });
  return small ? std::optional(*std::move(outputs)) : std::nullopt;
}

}  // namespace

Result<Graph> fold_constants(const Graph& graph, Bytes largest) {
  Replay replay(graph);
  replay.sources();
  for (const Node& node : graph.nodes()) {
    auto outputs = folded(replay, node, largest.count);
    if (!outputs) {
      ASSAY_TRY(replay.node(node));
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const std::string& name = graph.value(node.outputs[i]).name;
      replay.replace(node.outputs[i], replay.builder().constant(name, std::move((*outputs)[i])));
    }
  }
  return remove_dead_nodes(replay.finish());
}

}  // namespace assay

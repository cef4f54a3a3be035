// SPDX-License-Identifier: Apache-2.0
#include "onnx/scope.h"

#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace assay::onnx {
namespace {

// Names in order of arrival, each once.
class NameList {
 public:
  void add(std::string_view name) {
    if (!name.empty() && seen_.insert(name).second) names_.push_back(name);
  }
  std::vector<std::string_view> take() { return std::move(names_); }

 private:
  std::unordered_set<std::string_view> seen_;
  std::vector<std::string_view> names_;
};

void add_captured(const NodeRecord& node, const Hoisted& hoisted, NameList& names) {
  for (const GraphRecord* body : subgraphs(node)) {
    for (const std::string_view name : free_names(*body, hoisted)) names.add(name);
  }
}

// A name may come twice where the node has no subgraphs: there are few.
std::vector<std::string_view> used_names(const NodeRecord& node, const Hoisted& hoisted) {
  if (subgraphs(node).empty()) {
    std::vector<std::string_view> inputs = node.inputs;
    std::erase(inputs, std::string_view());
    return inputs;
  }
  NameList names;
  for (const std::string_view name : node.inputs) names.add(name);
  add_captured(node, hoisted, names);
  return names.take();
}

std::string place_of(const NodeRecord& node) {
  return "node '" + std::string(node.name) + "' (" + std::string(node.type) + ")";
}

class Ordering {
 public:
  Ordering(const GraphRecord& graph, const std::unordered_set<std::string_view>& available,
           const Hoisted& hoisted)
      : graph_(graph),
        available_(available),
        hoisted_(hoisted),
        state_(graph.nodes.size(), State::kNew) {}

  Result<std::vector<size_t>> run() {
    ASSAY_TRY(find_producers());
    order_.reserve(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) ASSAY_TRY(visit(n));
    return std::move(order_);
  }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Frame {
    size_t node;
    std::vector<std::string_view> names;
    size_t next = 0;
  };

  Result<void> find_producers() {
    producers_.reserve(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const std::string_view name : graph_.nodes[n].outputs) {
        if (name.empty()) continue;
        if (available_.contains(name) || !producers_.emplace(name, n).second) {
          return Error{ErrorCode::kInvalid, "value '" + std::string(name) + "' is defined twice",
                       place_of(graph_.nodes[n])};
        }
      }
    }
    return {};
  }

  // Depth first with a stack of its own: chains may be long.
  Result<void> visit(size_t root) {
    if (state_[root] != State::kNew) return {};
    std::vector<Frame> stack;
    open(root, stack);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.names.size()) {
        state_[top.node] = State::kDone;
        order_.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const std::string_view name = top.names[top.next++];
      if (available_.contains(name)) continue;
      const auto producer = producers_.find(name);
      if (producer == producers_.end()) {
        return Error{ErrorCode::kInvalid, "nothing defines its input '" + std::string(name) + "'",
                     place_of(graph_.nodes[top.node])};
      }
      if (state_[producer->second] == State::kOpen) {
        return Error{ErrorCode::kInvalid,
                     "the graph has a cycle through value '" + std::string(name) + "'",
                     place_of(graph_.nodes[top.node])};
      }
      if (state_[producer->second] == State::kNew) open(producer->second, stack);
    }
    return {};
  }

  void open(size_t node, std::vector<Frame>& stack) {
    state_[node] = State::kOpen;
    stack.push_back({node, used_names(graph_.nodes[node], hoisted_)});
  }

  const GraphRecord& graph_;
  const std::unordered_set<std::string_view>& available_;
  const Hoisted& hoisted_;
  std::vector<State> state_;
  std::unordered_map<std::string_view, size_t> producers_;
  std::vector<size_t> order_;
};

}  // namespace

std::vector<std::pair<std::string_view, const TensorRecord*>> held_tensors(
    const GraphRecord& graph) {
  std::vector<std::pair<std::string_view, const TensorRecord*>> tensors;
  for (const TensorRecord& tensor : graph.initializers) tensors.emplace_back(tensor.name, &tensor);
  for (const NodeRecord& node : graph.nodes) {
    if (node.type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) continue;
    for (const AttributeRecord& attribute : node.attributes) {
      if (const auto* tensor = std::get_if<std::shared_ptr<TensorRecord>>(&attribute.value)) {
        tensors.emplace_back(node.outputs[0], tensor->get());
      }
    }
  }
  return tensors;
}

std::vector<const GraphRecord*> subgraphs(const NodeRecord& node) {
  std::vector<const GraphRecord*> graphs;
  for (const AttributeRecord& attribute : node.attributes) {
    if (const auto* body = std::get_if<std::shared_ptr<GraphRecord>>(&attribute.value)) {
      graphs.push_back(body->get());
    }
  }
  return graphs;
}

std::vector<std::string_view> captured_names(const NodeRecord& node, const Hoisted& hoisted) {
  NameList names;
  add_captured(node, hoisted, names);
  return names.take();
}

std::vector<std::string_view> free_names(const GraphRecord& graph, const Hoisted& hoisted) {
  std::unordered_set<std::string_view> defined;
  NameList names;
  for (const ValueRecord& value : graph.inputs) defined.insert(value.name);
  for (const TensorRecord& tensor : graph.initializers) defined.insert(tensor.name);
  for (const SparseTensorRecord& t : graph.sparse_initializers) defined.insert(t.values.name);
  for (const NodeRecord& node : graph.nodes) {
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const auto& [name, tensor] : held_tensors(graph)) {
    if (const auto it = hoisted.find(tensor); it != hoisted.end()) names.add(it->second);
  }
  const auto use = [&](std::string_view name) {
    if (!defined.contains(name)) names.add(name);
  };
  for (const NodeRecord& node : graph.nodes) {
    for (const std::string_view name : used_names(node, hoisted)) use(name);
  }
  for (const ValueRecord& value : graph.outputs) use(value.name);
  return names.take();
}

Result<std::vector<size_t>> execution_order(const GraphRecord& graph,
                                            const std::unordered_set<std::string_view>& available,
                                            const Hoisted& hoisted) {
  return Ordering(graph, available, hoisted).run();
}

}  // namespace assay::onnx

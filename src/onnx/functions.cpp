// SPDX-License-Identifier: Apache-2.0
#include "onnx/functions.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace assay::onnx {
namespace {

constexpr size_t kMostNodes = 1'000'000;
constexpr int kDeepestCall = 64;

using Renames = std::unordered_map<std::string_view, std::string_view>;

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

class Inliner {
 public:
  explicit Inliner(ModelRecord& model) : model_(model) {}

  Result<void> run() {
    for (const FunctionRecord& function : model_.functions) {
      std::string_view domain = function.domain == "ai.onnx" ? "" : function.domain;
      if (!functions_.try_emplace({domain, function.name}, &function).second) {
        return Error{ErrorCode::kInvalid, "two functions have the same name",
                     "function " + in_quotes(function.name)};
      }
    }
    return functions_.empty() ? Result<void>() : graph(*model_.graph);
  }

 private:
  Result<void> graph(GraphRecord& graph) {
    std::vector<NodeRecord> nodes;
    nodes.reserve(graph.nodes.size());
    for (NodeRecord& node : graph.nodes) ASSAY_TRY(append(std::move(node), nodes));
    graph.nodes = std::move(nodes);
    return {};
  }

  // The node itself, or what it calls.
  Result<void> append(NodeRecord node, std::vector<NodeRecord>& nodes) {
    if (const auto called = functions_.find({node.domain, node.type}); called != functions_.end()) {
      return call(node, *called->second, nodes);
    }
    for (AttributeRecord& attribute : node.attributes) {
      if (auto* body = std::get_if<std::shared_ptr<GraphRecord>>(&attribute.value)) {
        ASSAY_TRY(graph(**body));
      }
    }
    if (++count_ > kMostNodes) {
      return Error{ErrorCode::kUnsupported, "its functions are more than a million nodes", ""};
    }
    nodes.push_back(std::move(node));
    return {};
  }

  Result<void> call(const NodeRecord& node, const FunctionRecord& function,
                    std::vector<NodeRecord>& nodes) {
    const auto fail = [&](std::string message) {
      return Error{ErrorCode::kInvalid, std::move(message),
                   "node " + in_quotes(node.name) + " (" + std::string(node.type) + ")"};
    };
    if (++depth_ > kDeepestCall) return fail("functions call each other without end");
    if (node.inputs.size() > function.inputs.size() ||
        node.outputs.size() > function.outputs.size()) {
      return fail("the function has fewer inputs or outputs");
    }
    Renames names;
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : std::string_view();
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) names[function.outputs[i]] = node.outputs[i];
    }
    ++calls_;
    for (const NodeRecord& body : function.nodes) {
      ASSAY_TRY(append(instance(body, node, function, names), nodes));
    }
    --depth_;
    return {};
  }

  std::string_view fresh(std::string_view name) {
    return model_.names.emplace_back(std::string(name) + "#" + std::to_string(calls_));
  }

  std::string_view renamed(std::string_view name, Renames& names) {
    if (name.empty()) return name;
    const auto [it, added] = names.try_emplace(name);
    if (added) it->second = fresh(name);
    return it->second;
  }

  // A copy of a node of the function's body for one call.
  NodeRecord instance(const NodeRecord& body, const NodeRecord& call,
                      const FunctionRecord& function, Renames& names) {
    NodeRecord node = body;
    node.opsets = &function.opsets;
    node.name =
        model_.names.emplace_back(std::string(call.name.empty() ? call.type : call.name) + "/" +
                                  std::string(body.name.empty() ? body.type : body.name));
    for (std::string_view& name : node.inputs) name = renamed(name, names);
    for (std::string_view& name : node.outputs) name = renamed(name, names);
    std::vector<AttributeRecord> attributes;
    for (AttributeRecord& attribute : node.attributes) {
      if (!attribute.reference.empty() && !refer(attribute, call, function)) continue;
      if (auto* inner = std::get_if<std::shared_ptr<GraphRecord>>(&attribute.value)) {
        *inner = std::make_shared<GraphRecord>(subgraph(**inner, call, function, names));
      }
      attributes.push_back(std::move(attribute));
    }
    node.attributes = std::move(attributes);
    return node;
  }

  // Replaces a reference by what the call or the function says; false when neither does.
  static bool refer(AttributeRecord& attribute, const NodeRecord& call,
                    const FunctionRecord& function) {
    for (const auto* list : {&call.attributes, &function.defaults}) {
      const auto found = std::ranges::find(*list, attribute.reference, &AttributeRecord::name);
      if (found == list->end()) continue;
      const std::string_view name = attribute.name;
      attribute = *found;
      attribute.name = name;
      return true;
    }
    return false;
  }

  // Names defined inside are renamed too: a call's value could have the same.
  GraphRecord subgraph(GraphRecord graph, const NodeRecord& call, const FunctionRecord& function,
                       Renames names) {
    for (auto* list : {&graph.inputs, &graph.values}) {
      for (ValueRecord& value : *list) value.name = defined(value.name, names);
    }
    for (TensorRecord& tensor : graph.initializers) tensor.name = defined(tensor.name, names);
    for (SparseTensorRecord& tensor : graph.sparse_initializers) {
      tensor.values.name = defined(tensor.values.name, names);
    }
    for (const NodeRecord& node : graph.nodes) {
      for (const std::string_view name : node.outputs) defined(name, names);
    }
    for (NodeRecord& node : graph.nodes) node = instance(node, call, function, names);
    for (ValueRecord& value : graph.outputs) value.name = renamed(value.name, names);
    return graph;
  }

  // One definition, one fresh name, however often it is met.
  std::string_view defined(std::string_view name, Renames& names) {
    if (name.empty()) return name;
    const std::string wanted = std::string(name) + "#" + std::to_string(calls_);
    std::string_view& now = names[name];
    if (now != wanted) now = fresh(name);
    return now;
  }

  ModelRecord& model_;
  std::map<std::pair<std::string_view, std::string_view>, const FunctionRecord*> functions_;
  size_t count_ = 0;
  size_t calls_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<void> inline_functions(ModelRecord& model) { return Inliner(model).run(); }

}  // namespace assay::onnx

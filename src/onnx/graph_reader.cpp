// SPDX-License-Identifier: Apache-2.0
#include "onnx/graph_reader.h"

#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graph/builder.h"
#include "onnx/attributes.h"
#include "onnx/node_reader.h"
#include "onnx/roles.h"
#include "onnx/scope.h"
#include "onnx/value_type.h"

namespace assay::onnx {
namespace {

// What the graphs of one model share.
struct Reading {
  const ModelRecord& model;
  const TensorOrigin& origin;
  const OnnxOptions& options;
  UnknownOps unknown;
  Hoisted hoisted;
  std::deque<std::string> keys;  // of hoisted tensors
};

// An outer value that subgraphs use: a copy of the constant, or an input of its type.
struct Capture {
  std::string_view name;  // in scopes
  std::string shown;      // of the outer value
  TensorType type;
  const Tensor* constant = nullptr;
};

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

Error located(Error error, std::string place) {
  if (error.place.empty()) error.place = std::move(place);
  return error;
}

class GraphReader {
 public:
  GraphReader(Reading& reading, const GraphRecord& record)
      : reading_(reading),
        record_(record),
        builder_(std::string(record.name)),
        nodes_(builder_, reading.model.opsets, reading.unknown, declared_) {
    for (const ValueRecord& input : record.inputs) reserved_.insert(input.name);
    for (const ValueRecord& output : record.outputs) reserved_.insert(output.name);
    for (const auto& [name, tensor] : held_tensors(record)) reserved_.insert(name);
    for (const NodeRecord& node : record.nodes) {
      reserved_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  Result<Graph> read() {
    const Roles roles(record_);
    ASSAY_TRY(read_initializers(&roles));
    ASSAY_TRY(hoist(record_, roles));
    for (const ValueRecord& input : record_.inputs) ASSAY_TRY(read_input(input));
    for (const auto& [name, shape] : reading_.options.input_shapes) {
      if (!values_.contains(name) || !is_input(name)) {
        return Error{ErrorCode::kInvalid, "there is no such input", "input " + in_quotes(name)};
      }
    }
    return finish();
  }

  // As a subgraph: `formal` are the types of its own inputs where it declares none.
  Result<Graph> read_body(std::span<const TensorType> formal, std::span<const Capture> captures) {
    ASSAY_TRY(read_initializers(nullptr));
    for (size_t i = 0; i < record_.inputs.size(); ++i) {
      const ValueRecord& input = record_.inputs[i];
      TensorType type = i < formal.size() ? formal[i] : TensorType();
      if (input.type || i >= formal.size()) {
        ASSAY_ASSIGN(type, tensor_type_of(input));
      }
      ASSAY_TRY(declare(input.name, [&] { return builder_.input(unique(input.name), type); }));
    }
    for (const Capture& capture : captures) {
      if (capture.constant != nullptr) {
        values_[capture.name] = builder_.constant(capture.shown, *capture.constant);
      } else {
        values_[capture.name] = builder_.input(foreign_name(capture.shown), capture.type);
      }
    }
    return finish();
  }

 private:
  std::string unique(std::string_view name) const {
    std::string wanted(name);
    while (builder_.has_name(wanted)) wanted += "_";
    return wanted;
  }

  // For a value that the graph takes from elsewhere: none of the names that the file gives here.
  std::string foreign_name(std::string_view name) const {
    std::string wanted(name);
    while (builder_.has_name(wanted) || reserved_.contains(wanted)) wanted += "_";
    return wanted;
  }

  bool is_input(std::string_view name) const {
    return builder_.peek().value(values_.at(name)).kind == ValueKind::kInput;
  }

  template <class Make>
  Result<void> declare(std::string_view name, Make make) {
    if (name.empty()) return Error{ErrorCode::kInvalid, "a value without a name", ""};
    if (values_.contains(name)) {
      return Error{ErrorCode::kInvalid, "it is defined twice", "value " + in_quotes(name)};
    }
    values_.emplace(name, make());
    return {};
  }

  Result<void> read_input(const ValueRecord& input) {
    // With an initialiser it is a parameter or a constant: a default that callers may not override.
    if (initialized_.contains(input.name)) return {};
    ASSAY_ASSIGN(TensorType type, tensor_type_of(input));
    const auto given = reading_.options.input_shapes.find(input.name);
    if (given != reading_.options.input_shapes.end()) {
      auto fitted = with_shape(type, given->second);
      if (!fitted.ok()) return located(fitted.error(), "input " + in_quotes(input.name));
      type = *std::move(fitted);
    }
    name_dimensions(type, input.name);
    return declare(input.name,
                   [&] { return builder_.input(std::string(input.name), std::move(type)); });
  }

  ValueId add_tensor(std::string_view name, Tensor tensor, Role role) {
    TensorType type = tensor.type();
    switch (role) {
      case Role::kConstant:
        break;
      case Role::kParameter: {
        const bool trainable = is_floating(type.dtype);
        return builder_.parameter(unique(name), std::move(type), Initializer::of(std::move(tensor)),
                                  trainable);
      }
      case Role::kState:
        return builder_.state(unique(name), std::move(type), Initializer::of(std::move(tensor)));
    }
    return builder_.constant(std::string(name), tensor.aligned());
  }

  // Initialisers and Constant nodes; without roles all are constants but what is hoisted.
  Result<void> read_initializers(const Roles* roles) {
    for (const auto& held : held_tensors(record_)) {
      const auto& name = held.first;  // a lambda below takes it; clang 14 cannot take bindings
      const auto& record = held.second;
      if (const auto key = reading_.hoisted.find(record); key != reading_.hoisted.end()) {
        aliases_.emplace_back(name, key->second);
        continue;
      }
      auto tensor = tensor_of(*record, reading_.origin);
      if (!tensor.ok()) return located(tensor.error(), "tensor " + in_quotes(name));
      const Role role = roles == nullptr ? Role::kConstant : roles->of(*record, name);
      ASSAY_TRY(declare(name, [&] { return add_tensor(name, *std::move(tensor), role); }));
    }
    for (const TensorRecord& tensor : record_.initializers) initialized_.insert(tensor.name);
    for (const SparseTensorRecord& sparse : record_.sparse_initializers) {
      auto tensor = tensor_of(sparse, reading_.origin);
      const std::string_view name = sparse.values.name;
      if (!tensor.ok()) return located(tensor.error(), "tensor " + in_quotes(name));
      const Role role = roles == nullptr ? Role::kConstant : roles->of(sparse.values, name);
      ASSAY_TRY(declare(name, [&] { return add_tensor(name, *std::move(tensor), role); }));
      initialized_.insert(name);
    }
    return {};
  }

  // Parameters that subgraphs hold are this graph's: counted once, and passed in.
  Result<void> hoist(const GraphRecord& graph, const Roles& roles) {
    for (const NodeRecord& node : graph.nodes) {
      for (const GraphRecord* body : subgraphs(node)) {
        for (const auto& [name, record] : held_tensors(*body)) {
          if (name.empty() || roles.of(*record, name) != Role::kParameter) continue;
          auto tensor = tensor_of(*record, reading_.origin);
          if (!tensor.ok()) return located(tensor.error(), "tensor " + in_quotes(name));
          // No name of a value begins like this: keys and names share the scope.
          const std::string& key = reading_.keys.emplace_back(
              '\0' + std::to_string(reading_.keys.size()) + std::string(name));
          reading_.hoisted.emplace(record, key);
          values_[key] = add_tensor(foreign_name(name), *std::move(tensor), Role::kParameter);
        }
        ASSAY_TRY(hoist(*body, roles));
      }
    }
    return {};
  }

  Result<Graph> finish() {
    for (const auto& alias : aliases_) {
      ASSAY_TRY(declare(alias.first, [&, this] { return values_.at(alias.second); }));
    }
    for (const ValueRecord& value : record_.values) declared_.emplace(value.name, &value);
    for (const ValueRecord& value : record_.outputs) declared_.emplace(value.name, &value);
    ASSAY_TRY(read_nodes());
    std::unordered_set<std::string_view> outputs;
    for (const ValueRecord& output : record_.outputs) {
      // Some exporters leave the element type open; what it is follows from the nodes.
      if (output.type && (!output.type->kind.empty() || output.type->data_type != 0)) {
        ASSAY_TRY(tensor_type_of(output));
      }
      const auto found = values_.find(output.name);
      if (found == values_.end()) {
        return Error{ErrorCode::kInvalid, "nothing defines it", "output " + in_quotes(output.name)};
      }
      if (!outputs.insert(output.name).second) {
        return Error{ErrorCode::kInvalid, "it is listed twice", "output " + in_quotes(output.name)};
      }
      builder_.output(found->second, output_name(found->second, output.name));
    }
    return std::move(builder_).build();
  }

  // A captured or hoisted value has a name of its own outside; here it may be an output as it is.
  std::string output_name(ValueId id, std::string_view name) const {
    const Value& value = builder_.peek().value(id);
    const bool own = value.kind == ValueKind::kComputed || !builder_.has_name(name);
    return own ? std::string(name) : value.name;
  }

  Result<void> read_nodes() {
    std::unordered_set<std::string_view> available;
    for (const auto& [name, id] : values_) available.insert(name);
    // Constant nodes that became values already are passed over.
    for (const NodeRecord& node : record_.nodes) {
      if (is_declared_constant(node)) available.erase(node.outputs[0]);
    }
    ASSAY_ASSIGN(const std::vector<size_t> order,
                 execution_order(record_, available, reading_.hoisted));
    for (const size_t n : order) {
      const NodeRecord& node = record_.nodes[n];
      if (!is_declared_constant(node)) ASSAY_TRY(read_node(node));
    }
    return {};
  }

  bool is_declared_constant(const NodeRecord& node) const {
    return node.type == "Constant" && node.domain.empty() && node.outputs.size() == 1 &&
           !initialized_.contains(node.outputs[0]) && values_.contains(node.outputs[0]) &&
           builder_.peek().value(values_.at(node.outputs[0])).kind != ValueKind::kComputed;
  }

  Result<void> read_node(const NodeRecord& node) {
    const std::string place = "node " + in_quotes(node.name) + " (" + std::string(node.type) + ")";
    std::vector<ValueId> inputs;
    inputs.reserve(node.inputs.size());
    for (const std::string_view name : node.inputs) {
      inputs.push_back(name.empty() ? kNoValue : values_.at(name));
    }
    auto attributes = attributes_of(node, reading_.origin);
    if (!attributes.ok()) return located(attributes.error(), place);
    if (auto closed = close_subgraphs(node, inputs, *attributes); !closed.ok()) {
      return located(closed.error(), place);
    }
    auto ids = nodes_.add(node, std::move(inputs), *std::move(attributes));
    if (!ids.ok()) return located(ids.error(), place);
    for (size_t i = 0; i < std::min(ids->size(), node.outputs.size()); ++i) {
      if (!node.outputs[i].empty()) values_[node.outputs[i]] = (*ids)[i];
    }
    return {};
  }

  Result<void> close_subgraphs(const NodeRecord& node, std::vector<ValueId>& inputs,
                               Attributes& attributes) {
    if (subgraphs(node).empty()) return {};
    const std::vector<TensorType> formal = formal_types(node, inputs);
    std::vector<Capture> captures;
    int64_t passed = 0;
    for (const std::string_view name : captured_names(node, reading_.hoisted)) {
      const ValueId id = values_.at(name);
      captures.push_back({name, builder_.peek().value(id).name, builder_.type(id),
                          builder_.peek().constant_data(id)});
      if (captures.back().constant != nullptr) continue;
      inputs.push_back(id);
      ++passed;
    }
    for (const AttributeRecord& attribute : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<GraphRecord>>(&attribute.value);
      if (body == nullptr) continue;
      auto graph = GraphReader(reading_, **body).read_body(formal, captures);
      if (!graph.ok()) return Error(graph.error());
      attributes.set(std::string(attribute.name), std::make_shared<const Graph>(*std::move(graph)));
    }
    attributes.set("captures", passed);
    return {};
  }

  // What a body's own inputs are when it does not say: a loop's counter and condition, then what
  // the node is given.
  std::vector<TensorType> formal_types(const NodeRecord& node,
                                       const std::vector<ValueId>& inputs) const {
    std::vector<TensorType> types;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (node.type == "Loop" && i < 2) {
        types.emplace_back(i == 0 ? DType::kI64 : DType::kBool, Shape());
      } else if (inputs[i] != kNoValue) {
        types.push_back(TensorType::unranked(builder_.type(inputs[i]).dtype));
      }
    }
    return types;
  }

  Reading& reading_;
  const GraphRecord& record_;
  GraphBuilder builder_;
  std::unordered_map<std::string_view, const ValueRecord*> declared_;
  NodeReader nodes_;
  std::unordered_map<std::string_view, ValueId> values_;
  std::unordered_set<std::string_view> initialized_;
  std::unordered_set<std::string_view> reserved_;  // names that the file defines in this graph
  std::vector<std::pair<std::string_view, std::string_view>> aliases_;  // name, key
};

}  // namespace

Result<Graph> read_graph(const ModelRecord& model, const TensorOrigin& origin,
                         const OnnxOptions& options) {
  Reading reading{model, origin, options, {}, {}, {}};
  return GraphReader(reading, *model.graph).read();
}

}  // namespace assay::onnx

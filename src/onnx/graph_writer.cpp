// SPDX-License-Identifier: Apache-2.0
#include "onnx/graph_writer.h"

#include <algorithm>
#include <span>

#include "graph/operator.h"

namespace assay::onnx {

using protozero::pbf_writer;

namespace {

// Smaller tensors are not worth a place in another file, and shapes are read from them.
constexpr int64_t kSmallestExternal = 1024;

// Messages without fields are messages too (a scalar's shape, a dimension nobody knows), which a
// nested pbf_writer would leave out.
std::string shape_message(const Shape& shape) {
  std::string bytes;
  pbf_writer out(bytes);
  for (const Dim& dim : shape.dims()) {
    std::string one;
    pbf_writer dimension(one);
    if (dim.known()) {
      dimension.add_int64(1, dim.size());
    } else if (!dim.name().empty()) {
      dimension.add_string(2, dim.name());
    }
    out.add_message(1, one);
  }
  return bytes;
}

void write_type(const TensorType& type, pbf_writer& out) {
  pbf_writer tensor(out, 1);
  tensor.add_int64(1, dtype_to_onnx(type.dtype));
  if (type.shape) tensor.add_message(2, shape_message(*type.shape));
}

void write_value(const std::string& name, const TensorType& type, pbf_writer& out, int field) {
  pbf_writer value(out, static_cast<protozero::pbf_tag_type>(field));
  value.add_string(1, name);
  pbf_writer type_message(value, 2);
  write_type(type, type_message);
}

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes())};
}

// In inference the gradient is nobody's concern.
bool is_identity(const OpEntry& op) { return op.domain == "assay" && op.type == "StopGradient"; }

bool has_subgraphs(const Node& node) {
  return std::ranges::any_of(node.attributes.items(), [](const auto& item) {
    return std::holds_alternative<std::shared_ptr<const Graph>>(item.second);
  });
}

// Only the reader sets it, beside subgraphs; elsewhere it is an attribute like any other.
int64_t captures_of(const Node& node) {
  return has_subgraphs(node) && node.attributes.has("captures")
             ? node.attributes.integer("captures")
             : 0;
}

}  // namespace

std::string GraphWriter::unique(const std::string& wanted) {
  const std::string base = wanted.empty() ? "value" : wanted;
  std::string name = base;
  for (int n = 2; !used_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  return name;
}

Result<void> GraphWriter::graph(const Graph& graph, pbf_writer& out) {
  Names names;
  names.reserve(graph.values().size());
  for (const Value& value : graph.values()) names.push_back(unique(value.name));
  return contents(graph, names, graph.inputs().size(), out);
}

// A subgraph sees the outer values that it captures under the names they have outside.
Result<void> GraphWriter::body(const Graph& graph, const std::vector<std::string>& outer,
                               pbf_writer& out) {
  ASSAY_ASSERT(outer.size() <= graph.inputs().size(), "more captures than inputs");
  const size_t own = graph.inputs().size() - outer.size();
  Names names(graph.values().size());
  for (size_t i = 0; i < outer.size(); ++i) names[graph.inputs()[own + i]] = outer[i];
  for (ValueId id = 0; id < names.size(); ++id) {
    if (names[id].empty()) names[id] = unique(graph.value(id).name);
  }
  return contents(graph, names, own, out);
}

Result<void> GraphWriter::contents(const Graph& graph, const Names& names, size_t inputs,
                                   pbf_writer& out) {
  out.add_string(2, graph.name().empty() ? "graph" : graph.name());
  for (size_t i = 0; i < inputs; ++i) {
    const ValueId id = graph.inputs()[i];
    write_value(names[id], graph.value(id).type, out, 11);
  }
  for (const ValueId id : graph.random_keys()) {
    write_value(names[id], graph.value(id).type, out, 11);
  }
  ASSAY_TRY(initializers(graph, names, out));
  for (const Node& node : graph.nodes()) {
    ASSAY_TRY(this->node(graph, node, names, out));
    if (graph.unknown_op(node) == nullptr) continue;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) write_value(names[id], graph.value(id).type, out, 13);
    }
  }
  for (const ValueId id : graph.outputs()) write_value(names[id], graph.value(id).type, out, 12);
  return {};
}

Result<void> GraphWriter::initializers(const Graph& graph, const Names& names, pbf_writer& out) {
  for (const Parameter& parameter : graph.parameters()) {
    ASSAY_TRY(initializer(graph, parameter.value, parameter.initializer, names, out));
  }
  for (const State& state : graph.states()) {
    if (state.next != kNoValue) {
      return Error{ErrorCode::kUnsupported, "it has a next value: only inference can be written",
                   "state '" + graph.value(state.value).name + "'"};
    }
    ASSAY_TRY(initializer(graph, state.value, state.initializer, names, out));
  }
  for (const Constant& constant : graph.constants()) {
    ASSAY_TRY(tensor(constant.data, names[constant.value], out));
  }
  return {};
}

Result<void> GraphWriter::initializer(const Graph& graph, ValueId id,
                                      const Initializer& initializer, const Names& names,
                                      pbf_writer& out) {
  const Value& value = graph.value(id);
  ASSAY_ASSIGN(const Tensor data, materialize(initializer, value.type, key_, value.name));
  return tensor(data, names[id], out);
}

Result<void> GraphWriter::tensor(const Tensor& tensor, const std::string& name, pbf_writer& out) {
  pbf_writer message(out, 5);
  for (const int64_t dim : tensor.shape()) message.add_int64(1, dim);
  message.add_int64(2, dtype_to_onnx(tensor.dtype()));
  message.add_string(8, name);
  if (external_ == nullptr || tensor.bytes() < kSmallestExternal) {
    message.add_bytes(9, bytes_of(tensor).data(), bytes_of(tensor).size());
    return {};
  }
  ASSAY_ASSIGN(const int64_t offset, external_->append(tensor));
  const auto entry = [&message](std::string_view key, const std::string& text) {
    pbf_writer pair(message, 13);
    pair.add_string(1, key.data(), key.size());
    pair.add_string(2, text);
  };
  entry("location", std::string(external_->location()));
  entry("offset", std::to_string(offset));
  entry("length", std::to_string(tensor.bytes()));
  message.add_int64(14, 1);
  return {};
}

Result<void> GraphWriter::node(const Graph& graph, const Node& node, const Names& names,
                               pbf_writer& out) {
  const bool identity = is_identity(*node.op);
  const auto captures = static_cast<size_t>(captures_of(node));
  ASSAY_ASSERT(captures <= node.inputs.size(), "more captures than inputs");
  const size_t own = node.inputs.size() - captures;
  std::vector<std::string> captured;
  for (size_t i = own; i < node.inputs.size(); ++i) captured.push_back(names[node.inputs[i]]);
  const auto name = [&](ValueId id) { return id == kNoValue ? std::string() : names[id]; };
  pbf_writer message(out, 1);
  for (size_t i = 0; i < own; ++i) message.add_string(1, name(node.inputs[i]));
  for (const ValueId id : node.outputs) message.add_string(2, name(id));
  message.add_string(3, node.name);
  message.add_string(4, identity ? "Identity" : node.op->type);
  for (const auto& [key, value] : node.attributes.items()) {
    if (key == "captures" && has_subgraphs(node)) continue;
    auto written = attribute(key, value, captured, message);
    if (written.ok()) continue;
    Error error = std::move(written).error();
    if (error.place.empty()) error.place = "node '" + node.name + "' (" + node.op->type + ")";
    return error;
  }
  if (node.op->domain.empty() || identity) return {};
  message.add_string(7, node.op->domain);
  int& version = domains_[node.op->domain];
  version = std::max(version, graph.unknown_op(node) == nullptr ? 1 : node.op->since_version);
  return {};
}

namespace {

// AttributeProto but for its name and graphs.
struct AttributeWriter {
  pbf_writer& out;

  void type(int number) const { out.add_int64(20, number); }
  void operator()(int64_t value) const {
    out.add_int64(3, value);
    type(2);
  }
  void operator()(float value) const {
    out.add_float(2, value);
    type(1);
  }
  void operator()(const std::string& value) const {
    out.add_bytes(4, value);
    type(3);
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) out.add_int64(8, value);
    type(7);
  }
  void operator()(const std::vector<float>& values) const {
    for (const float value : values) out.add_float(7, value);
    type(6);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) out.add_bytes(9, value);
    type(8);
  }
  void operator()(const Tensor& tensor) const {
    {
      pbf_writer message(out, 5);
      for (const int64_t dim : tensor.shape()) message.add_int64(1, dim);
      message.add_int64(2, dtype_to_onnx(tensor.dtype()));
      message.add_bytes(9, bytes_of(tensor).data(), bytes_of(tensor).size());
    }
    type(4);
  }
  void operator()(const std::shared_ptr<const Graph>& /*graph*/) const { type(5); }
};

}  // namespace

Result<void> GraphWriter::attribute(const std::string& name, const Attribute& value,
                                    const std::vector<std::string>& captured, pbf_writer& out) {
  pbf_writer message(out, 5);
  message.add_string(1, name);
  if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&value)) {
    pbf_writer inner(message, 6);
    ASSAY_TRY(body(**graph, captured, inner));
  }
  std::visit(AttributeWriter{message}, value);
  return {};
}

}  // namespace assay::onnx

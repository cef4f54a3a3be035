// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.h"
#include "graph/interpret.h"

namespace assay {
namespace {

// Shape arithmetic is small; weights computed from constants stay nodes.
constexpr int64_t kLargestFold = 1024;
constexpr double kLargestFoldFlops = 1e5;

std::string described(const OpEntry& op) {
  return op.domain.empty() ? op.type : op.domain + "." + op.type;
}

Error arity_error(const OpEntry& op, std::string_view what, size_t given, size_t low, size_t high) {
  std::string range = std::to_string(low);
  if (high == OpEntry::kVariadic) {
    range += " or more";
  } else if (high != low) {
    range += " to " + std::to_string(high);
  }
  return Error{ErrorCode::kInvalid, described(op) + " takes " + range + " " + std::string(what) +
                                        ", not " + std::to_string(given)};
}

Result<const OpEntry*> find_op(std::string_view domain, std::string_view type) {
  if (const OpEntry* op = op_table().find(domain, type)) return op;
  std::vector<std::string> known;
  for (const OpEntry* op : op_table().entries()) {
    if (op->domain == domain) known.push_back(op->type);
  }
  std::string message = "operator '" + std::string(type) + "'";
  if (!domain.empty()) message += " of domain '" + std::string(domain) + "'";
  message += " is not known";
  Error error{ErrorCode::kUnsupported, message};
  if (const auto near = nearest_name(type, known)) error.hint = "did you mean '" + *near + "'?";
  return error;
}

// Tensors without elements may have dimensions of any size: loops over those would not end.
bool is_small(const TensorType& type) {
  return type.known() && *type.shape->elements() <= kLargestFold &&
         std::ranges::all_of(type.shape->dims(),
                             [](const Dim& dim) { return dim.size() <= kLargestFold; });
}

// Pointers to the types of `ids`, null where omitted.
std::vector<const TensorType*> types_of(const Graph& graph, std::span<const ValueId> ids) {
  std::vector<const TensorType*> types;
  types.reserve(ids.size());
  for (const ValueId id : ids) types.push_back(id == kNoValue ? nullptr : &graph.value(id).type);
  return types;
}

}  // namespace

GraphBuilder::GraphBuilder(std::string name) { graph_.name_ = std::move(name); }

std::string GraphBuilder::unique_name(std::string name) {
  if (!names_.contains(name)) return name;
  int& suffix = suffixes_[name];
  suffix = std::max(suffix, 1);
  std::string candidate;
  do {
    candidate = name + "_" + std::to_string(++suffix);
  } while (names_.contains(candidate));
  return candidate;
}

ValueId GraphBuilder::new_value(std::string name, TensorType type, ValueKind kind) {
  const auto id = static_cast<ValueId>(graph_.values_.size());
  names_.insert(name);
  graph_.values_.push_back({std::move(name), std::move(type), kind, 0, 0});
  return id;
}

ValueId GraphBuilder::new_source(std::string name, TensorType type, ValueKind kind) {
  ASSAY_ASSERT(!name.empty() && !names_.contains(name), "a second value of the name " + name);
  return new_value(std::move(name), std::move(type), kind);
}

ValueId GraphBuilder::input(std::string name, TensorType type) {
  const ValueId id = new_source(std::move(name), std::move(type), ValueKind::kInput);
  graph_.inputs_.push_back(id);
  return id;
}

ValueId GraphBuilder::random_key(std::string name) {
  const ValueId id =
      new_source(std::move(name), TensorType(DType::kU32, Shape{2}), ValueKind::kRandomKey);
  graph_.random_keys_.push_back(id);
  return id;
}

ValueId GraphBuilder::parameter(std::string name, TensorType type, Initializer initializer,
                                bool trainable) {
  ASSAY_ASSERT(type.known(), "a parameter of unknown shape: " + name);
  const ValueId id = new_source(std::move(name), std::move(type), ValueKind::kParameter);
  graph_.parameters_.push_back({id, std::move(initializer), trainable});
  return id;
}

ValueId GraphBuilder::state(std::string name, TensorType type, Initializer initializer) {
  ASSAY_ASSERT(type.known(), "a state of unknown shape: " + name);
  const ValueId id = new_source(std::move(name), std::move(type), ValueKind::kState);
  graph_.states_.push_back({id, kNoValue, std::move(initializer)});
  return id;
}

void GraphBuilder::set_next(ValueId state, ValueId next) {
  const auto it = std::ranges::find(graph_.states_, state, &State::value);
  ASSAY_ASSERT(it != graph_.states_.end(), "set_next of a value that is no state");
  ASSAY_ASSERT(type(state) == type(next), "the next value of a state has another type: " +
                                              type(state).text() + " and " + type(next).text());
  it->next = next;
}

ValueId GraphBuilder::constant(std::string name, Tensor data) {
  const ValueId id = new_value(unique_name(std::move(name)), data.type(), ValueKind::kConstant);
  graph_.values_[id].producer = static_cast<uint32_t>(graph_.constants_.size());
  graph_.constants_.push_back({id, std::move(data)});
  return id;
}

ValueId GraphBuilder::scalar(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (const auto it = scalars_.find(bits); it != scalars_.end()) return it->second;
  const ValueId id =
      constant("scalar." + shortest(static_cast<double>(value)), Tensor::scalar_f32(value));
  scalars_.emplace(bits, id);
  return id;
}

ValueId GraphBuilder::add(std::string_view type, std::vector<ValueId> inputs, Attributes attributes,
                          const std::string& name) {
  return add_multi(type, std::move(inputs), 1, std::move(attributes), name).front();
}

std::vector<ValueId> GraphBuilder::add_multi(std::string_view type, std::vector<ValueId> inputs,
                                             size_t outputs, Attributes attributes,
                                             const std::string& name) {
  const size_t dot = type.rfind('.');
  const bool own = dot != std::string_view::npos;
  auto added =
      try_add(own ? type.substr(0, dot) : std::string_view(), own ? type.substr(dot + 1) : type,
              std::move(inputs), outputs, std::move(attributes), name);
  ASSAY_ASSERT(added.ok(), added.error().text());
  return *std::move(added);
}

Result<void> GraphBuilder::check_arity(const OpEntry& op, std::span<const ValueId> inputs,
                                       size_t outputs) const {
  if (inputs.size() < op.min_inputs || inputs.size() > op.max_inputs) {
    return arity_error(op, "inputs", inputs.size(), op.min_inputs, op.max_inputs);
  }
  if (outputs < op.min_outputs || outputs > op.max_outputs) {
    return arity_error(op, "outputs", outputs, op.min_outputs, op.max_outputs);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_ASSERT(inputs[i] == kNoValue || inputs[i] < graph_.values_.size(), "no such value");
    if (inputs[i] == kNoValue && i < op.min_inputs) {
      return Error{ErrorCode::kInvalid, "input " + std::to_string(i) + " is required"};
    }
  }
  return {};
}

Result<std::vector<TensorType>> GraphBuilder::infer(const OpEntry& op,
                                                    std::span<const ValueId> inputs, size_t outputs,
                                                    const Attributes& attributes) const {
  const std::vector<const TensorType*> types = types_of(graph_, inputs);
  std::vector<const Tensor*> constants;
  constants.reserve(inputs.size());
  for (const ValueId id : inputs) constants.push_back(graph_.constant_data(id));
  ASSAY_ASSIGN(std::vector<TensorType> result, op.infer({types, constants, attributes, outputs}));
  ASSAY_ASSERT(result.size() >= outputs, "inference of " + op.type + " gave too few types");
  result.resize(outputs);
  for (const TensorType& type : result) {  // everything known must be addressable
    if (!type.known()) continue;
    if (auto bytes = type.bytes(); !bytes.ok()) return Error(bytes.error());
  }
  return result;
}

std::vector<ValueId> GraphBuilder::fold(const OpEntry& op, std::span<const ValueId> inputs,
                                        std::span<const TensorType> types,
                                        const Attributes& attributes, const Names& names) {
  const std::vector<const TensorType*> input_types = types_of(graph_, inputs);
  std::vector<const Tensor*> data;
  bool constant_inputs = !inputs.empty();
  for (const ValueId id : inputs) {
    data.push_back(graph_.constant_data(id));
    if (id == kNoValue) continue;
    if (data.back() == nullptr) {
      constant_inputs = false;
      continue;
    }
    const TensorType& type = graph_.value(id).type;
    constant_inputs = constant_inputs && (*type.shape->elements() > 0 || is_small(type));
  }
  if (op.fold != nullptr) {
    auto folded = op.fold({input_types, data, attributes, types.size()});
    if (folded) return {constant(names.outputs[0], *std::move(folded))};
  }
  if (!constant_inputs || op.kernel == nullptr || op.is_random) return {};
  // Sizes that depend on data are bounded by those of the inputs, which must then be small.
  const auto small = [](const TensorType* type) { return type == nullptr || is_small(*type); };
  const bool all_small = std::ranges::all_of(input_types, small);
  std::vector<const TensorType*> output_types;
  for (const TensorType& type : types) {
    if (!is_small(type) && (type.known() || !all_small)) return {};
    output_types.push_back(&type);
  }
  if (has_body(op)) return {};  // it may run for ever
  const bool known = std::ranges::all_of(types, &TensorType::known);
  if (known && op.cost != nullptr &&
      op.cost({input_types, output_types, attributes, data}).flops > kLargestFoldFlops) {
    return {};
  }
  // A kernel may refuse the values or the element type: then the node stays.
  auto ran = run_operator(op, data, types, attributes);
  if (!ran.ok()) return {};
  std::vector<Tensor> outputs = *std::move(ran);
  if (!std::ranges::all_of(outputs, [](const Tensor& t) { return is_small(t.type()); })) return {};
  std::vector<ValueId> ids;
  ids.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    ids.push_back(constant(names.outputs[i], std::move(outputs[i])));
  }
  return ids;
}

namespace {

// Where an error happened.
std::string node_place(const std::string& name, std::string_view type) {
  return "node " + (name.empty() ? "(unnamed)" : "'" + name + "'") + " (" + std::string(type) + ")";
}

}  // namespace

Result<std::vector<ValueId>> GraphBuilder::try_add(std::string_view domain, std::string_view type,
                                                   std::vector<ValueId> inputs, size_t outputs,
                                                   Attributes attributes, const std::string& name) {
  auto found = find_op(domain, type);
  if (!found.ok()) {
    Error error = std::move(found).error();
    error.place = node_place(name, type);
    return error;
  }
  return try_add(**found, std::move(inputs), std::move(attributes),
                 {name, std::vector<std::string>(outputs)});
}

Result<std::vector<ValueId>> GraphBuilder::try_add(const OpEntry& op, std::vector<ValueId> inputs,
                                                   Attributes attributes, Names names) {
  const auto located = [&](Error error) {
    error.place = node_place(names.node, op.type);
    return error;
  };
  if (auto arity = check_arity(op, inputs, names.outputs.size()); !arity.ok()) {
    return located(std::move(arity).error());
  }
  auto complete = complete_attributes(op, std::move(attributes));
  if (!complete.ok()) return located(std::move(complete).error());
  auto types = infer(op, inputs, names.outputs.size(), *complete);
  if (!types.ok()) return located(std::move(types).error());

  const std::string base = names.node.empty() ? op.type : names.node;
  if (names.outputs[0].empty()) names.node.clear();  // it takes the name of its first output
  for (size_t i = 0; i < names.outputs.size(); ++i) {
    std::string& output = names.outputs[i];
    if (output.empty()) output = i == 0 ? base : base + "." + std::to_string(i);
  }
  std::vector<ValueId> ids = fold(op, inputs, *types, *complete, names);
  if (!ids.empty()) return ids;
  return append(op, std::move(inputs), *std::move(types), *std::move(complete), std::move(names));
}

std::vector<ValueId> GraphBuilder::add_unknown(const std::shared_ptr<const OpEntry>& op,
                                               std::vector<ValueId> inputs,
                                               std::vector<TensorType> types, Attributes attributes,
                                               Names names) {
  ASSAY_ASSERT(types.size() == names.outputs.size(), "a name for every output, be it empty");
  auto& known = graph_.unknown_ops_;
  if (std::ranges::find(known, op) == known.end()) known.push_back(op);
  return append(*op, std::move(inputs), std::move(types), std::move(attributes), std::move(names));
}

std::vector<ValueId> GraphBuilder::append(const OpEntry& op, std::vector<ValueId> inputs,
                                          std::vector<TensorType> types, Attributes attributes,
                                          Names names) {
  const auto index = static_cast<uint32_t>(graph_.nodes_.size());
  std::vector<ValueId> ids;
  ids.reserve(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    std::string& output = names.outputs[i];
    if (output.empty()) output = names.node + "." + std::to_string(i);
    const ValueId id =
        new_value(unique_name(std::move(output)), std::move(types[i]), ValueKind::kComputed);
    graph_.values_[id].producer = index;
    graph_.values_[id].output_index = static_cast<uint32_t>(i);
    ids.push_back(id);
  }
  if (names.node.empty()) names.node = graph_.values_[ids.front()].name;
  graph_.nodes_.push_back(
      {std::move(names.node), &op, std::move(inputs), ids, std::move(attributes)});
  return ids;
}

ValueId GraphBuilder::demand_output(uint32_t node, size_t output) {
  const Node& n = graph_.nodes_[node];
  if (output < n.outputs.size() && n.outputs[output] != kNoValue) return n.outputs[output];
  const size_t count = std::max(output + 1, n.outputs.size());
  ASSAY_ASSERT(count <= n.op->max_outputs, n.op->type + " has no such output");
  auto types = infer(*n.op, n.inputs, count, n.attributes);
  ASSAY_ASSERT(types.ok(), types.error().text());
  const ValueId id = new_value(unique_name(n.name + "." + std::to_string(output)),
                               std::move((*types)[output]), ValueKind::kComputed);
  graph_.values_[id].producer = node;
  graph_.values_[id].output_index = static_cast<uint32_t>(output);
  graph_.nodes_[node].outputs.resize(count, kNoValue);
  graph_.nodes_[node].outputs[output] = id;
  return id;
}

void GraphBuilder::rename(ValueId value, std::string name) {
  Value& v = graph_.values_[value];
  if (v.name == name) return;
  names_.erase(v.name);
  v.name = unique_name(std::move(name));
  names_.insert(v.name);
}

void GraphBuilder::take_name(const std::string& name) {
  if (!names_.contains(name)) return;
  const auto owner = std::ranges::find(graph_.values_, name, &Value::name);
  if (owner == graph_.values_.end()) return;  // the name of a node only
  ASSAY_ASSERT(owner->kind == ValueKind::kComputed || owner->kind == ValueKind::kConstant,
               "an output with the name of an input, parameter or state: " + name);
  owner->name = unique_name(name);
  names_.insert(owner->name);
  names_.erase(name);
}

void GraphBuilder::output(ValueId value, std::string name) {
  const bool computed = graph_.values_[value].kind == ValueKind::kComputed;
  const bool listed = outputs_.contains(value);
  // Inputs, parameters and outputs keep their own names: another name is another value.
  if (!name.empty() && (!computed || listed) && graph_.values_[value].name != name) {
    take_name(name);
    value = add("Identity", {value}, {}, name);
  } else if (!name.empty() && graph_.values_[value].name != name) {
    take_name(name);
    rename(value, std::move(name));
  }
  outputs_.insert(value);
  graph_.outputs_.push_back(value);
}

Graph GraphBuilder::build() && { return std::move(graph_); }

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "graph/interpret.h"

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <utility>

namespace assay {
namespace {

Error at_node(Error error, const Node& node) {
  if (error.place.empty()) error.place = "node '" + node.name + "' (" + node.op->type + ")";
  return error;
}

Result<std::vector<TensorType>> infer_outputs(const Node& node,
                                              std::span<const Tensor* const> inputs) {
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  std::vector<const TensorType*> pointers;
  for (const Tensor* input : inputs) {
    types.push_back(input == nullptr ? TensorType() : input->type());
    pointers.push_back(input == nullptr ? nullptr : &types.back());
  }
  ASSAY_ASSIGN(std::vector<TensorType> result,
               node.op->infer({pointers, inputs, node.attributes, node.outputs.size()}));
  result.resize(node.outputs.size());
  for (const TensorType& type : result) {
    if (type.known()) ASSAY_TRY(type.bytes());
  }
  return result;
}

// Whether the tensor may stand for a value of this type; symbols stand for one size each.
bool fits(const Tensor& tensor, const TensorType& type, std::map<std::string, int64_t>& symbols) {
  if (tensor.empty() || tensor.dtype() != type.dtype) return false;
  if (!type.shape) return true;
  if (type.shape->rank() != tensor.shape().size()) return false;
  for (size_t axis = 0; axis < tensor.shape().size(); ++axis) {
    const Dim& dim = (*type.shape)[axis];
    const int64_t size = tensor.shape()[axis];
    if (!dim.known() && dim.name().empty()) continue;
    const int64_t wanted =
        dim.known() ? dim.size() : symbols.try_emplace(dim.name(), size).first->second;
    if (wanted != size) return false;
  }
  return true;
}

Result<void> take_given(const Graph& graph, ValueId id, const Initializer& initializer,
                        std::vector<Tensor>& values) {
  if (initializer.kind != InitializerKind::kGiven) {
    return Error{ErrorCode::kInvalid, "it has no data, only " + initializer.text(),
                 "parameter '" + graph.value(id).name + "'"};
  }
  values[id] = initializer.given.aligned();  // a file's weights may lie anywhere
  return {};
}

}  // namespace

Result<std::vector<Tensor>> run_operator(const OpEntry& op, std::span<const Tensor* const> inputs,
                                         std::span<const TensorType> types,
                                         const Attributes& attributes) {
  if (op.kernel == nullptr) {
    const std::string note = op.note.empty() ? "" : ": " + op.note;
    return Error{ErrorCode::kUnsupported, "no reference kernel for " + op.type + note};
  }
  if (op.is_view && types[0].known()) {
    return std::vector<Tensor>{inputs[0]->reshaped(types[0].shape->sizes())};
  }
  std::vector<Tensor> outputs;
  outputs.reserve(types.size());
  try {
    for (const TensorType& type : types) {
      outputs.push_back(type.known() && !op.sizes_outputs
                            ? Tensor::allocate(type.dtype, type.shape->sizes())
                            : Tensor());
    }
    ASSAY_TRY(op.kernel({inputs, outputs, attributes}));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "no memory for the outputs of " + op.type};
  }
  const bool all = std::ranges::none_of(outputs, &Tensor::empty);
  ASSAY_ASSERT(all, "a kernel of " + op.type + " left an output empty");
  return outputs;
}

Result<std::vector<Tensor>> run_node(const Node& node, std::span<const Tensor* const> inputs) {
  std::vector<TensorType> types(node.outputs.size());
  if (!has_body(*node.op)) {  // control flow finds out by running
    auto inferred = infer_outputs(node, inputs);
    if (!inferred.ok()) return at_node(std::move(inferred).error(), node);
    types = *std::move(inferred);
  }
  auto outputs = run_operator(*node.op, inputs, types, node.attributes);
  if (!outputs.ok()) return at_node(std::move(outputs).error(), node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) (*outputs)[i] = Tensor();
  }
  return outputs;
}

std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  constexpr size_t kNever = static_cast<size_t>(-1);
  std::vector<size_t> last(graph.values().size(), kNever);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) last[id] = n;
    }
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && graph.value(id).kind == ValueKind::kComputed) last[id] = n;
    }
  }
  for (const ValueId id : graph.outputs()) last[id] = kNever;
  for (const State& state : graph.states()) {
    if (state.next != kNoValue) last[state.next] = kNever;
  }
  std::vector<std::vector<ValueId>> dies(graph.nodes().size());
  for (ValueId id = 0; id < last.size(); ++id) {
    if (last[id] != kNever) dies[last[id]].push_back(id);
  }
  return dies;
}

Result<void> Interpreter::run(std::vector<Tensor>& values) const {
  values.resize(graph_.values().size());
  for (const Constant& constant : graph_.constants()) values[constant.value] = constant.data;
  std::vector<const Tensor*> inputs;
  for (size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    inputs.clear();
    for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? nullptr : &values[id]);
    ASSAY_ASSIGN(std::vector<Tensor> outputs, run_node(node, inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) values[node.outputs[i]] = std::move(outputs[i]);
    }
    outputs.clear();
    for (const ValueId id : dies_after_[n]) values[id] = Tensor();
  }
  return {};
}

namespace {

Error misfit(const Tensor& tensor, const Value& value) {
  return Error{ErrorCode::kInvalid,
               "input is " + tensor.type().text() + ", the graph wants " + value.type.text(),
               value.name};
}

}  // namespace

Result<std::vector<Tensor>> Interpreter::outputs(std::span<const Tensor> inputs) const {
  std::map<std::string, int64_t> symbols;
  for (size_t i = 0; i < std::min(inputs.size(), graph_.inputs().size()); ++i) {
    const Value& value = graph_.value(graph_.inputs()[i]);
    if (!fits(inputs[i], value.type, symbols)) return misfit(inputs[i], value);
  }
  return body_outputs(inputs);
}

Result<std::vector<Tensor>> Interpreter::body_outputs(std::span<const Tensor> inputs) const {
  if (inputs.size() != graph_.inputs().size()) {
    return Error{ErrorCode::kInvalid,
                 std::to_string(inputs.size()) + " inputs given, the graph has " +
                     std::to_string(graph_.inputs().size()),
                 graph_.name()};
  }
  std::vector<Tensor> values(graph_.values().size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph_.value(graph_.inputs()[i]);
    if (inputs[i].empty() || inputs[i].dtype() != value.type.dtype) return misfit(inputs[i], value);
    values[graph_.inputs()[i]] = inputs[i];
  }
  if (!graph_.random_keys().empty()) {
    return Error{ErrorCode::kInvalid, "no random key is given", graph_.name()};
  }
  for (const Parameter& p : graph_.parameters()) {
    ASSAY_TRY(take_given(graph_, p.value, p.initializer, values));
  }
  for (const State& s : graph_.states()) {
    ASSAY_TRY(take_given(graph_, s.value, s.initializer, values));
  }
  ASSAY_TRY(run(values));
  std::vector<Tensor> results;
  results.reserve(graph_.outputs().size());
  for (const ValueId id : graph_.outputs()) results.push_back(values[id]);
  return results;
}

Result<std::vector<Tensor>> interpret(const Graph& graph, std::span<const Tensor> inputs) {
  return Interpreter(graph).outputs(inputs);
}

}  // namespace assay

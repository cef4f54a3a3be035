// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/lowering.h"

#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

std::string full_type(const OpEntry& op) {
  return op.domain.empty() ? op.type : op.domain + "." + op.type;
}

}  // namespace

std::vector<int64_t> IntegerInput::values(const Step& step, const at::Tensor* registers) const {
  if (constant) return *constant;
  if (!step.has(input)) return {};
  return integers(step.in(registers, input));
}

bool Lowering::wants(size_t output) const {
  if (output >= node().outputs.size() || node().outputs[output] == kNoValue) return false;
  const ValueUse& use = uses_[node().outputs[output]];
  return use.readers > 0 || use.is_output;
}

Result<int64_t> Lowering::rank(size_t input) const {
  const auto& shape = type(input).shape;
  if (!shape) {
    return unsupported("the rank of input " + std::to_string(input) + " is unknown");
  }
  return static_cast<int64_t>(shape->rank());
}

std::optional<std::vector<int64_t>> Lowering::constant_integers(size_t input) const {
  if (!has(input)) return std::nullopt;
  const Tensor* data = graph_.constant_data(node().inputs[input]);
  if (data == nullptr) return std::nullopt;
  return integers(*data);
}

Result<std::vector<int64_t>> Lowering::require_integers(size_t input, std::string_view name) const {
  auto values = constant_integers(input);
  if (!values) {
    return unsupported("input " + std::to_string(input) + " (" + std::string(name) +
                       ") is computed; only a constant is lowered");
  }
  return std::move(*values);
}

bool Lowering::may_overwrite(size_t input) const {
  const ValueUse& use = uses_[node().inputs[input]];
  if (!use.fresh || use.viewed || use.is_output) return false;
  // Autograd may have kept the value for the backward pass of any other reader.
  if (options_.training) return use.readers == 1;
  return use.last_reader == index_ && use.readers >= 1;
}

bool Lowering::updates_state(size_t input, size_t output) const {
  if (!has(input) || output >= node().outputs.size()) return false;
  const ValueId id = node().inputs[input];
  const ValueId next = node().outputs[output];
  if (next == kNoValue || uses_[id].readers != 1 || uses_[next].readers != 0) return false;
  for (const ValueId output_id : graph_.outputs()) {
    if (output_id == next) return false;
  }
  for (const State& state : graph_.states()) {
    if (state.value == id) return state.next == next;
  }
  return false;
}

Step Lowering::step(StepFunction run, std::string kernel, std::shared_ptr<void> data) const {
  Step made;
  made.run = run;
  made.kernel = std::move(kernel);
  made.data = std::move(data);
  made.inputs = node().inputs;
  made.outputs = node().outputs;
  for (size_t i = 0; i < made.outputs.size(); ++i) {
    if (!wants(i)) made.outputs[i] = kNoValue;
  }
  made.nodes = {index_};
  return made;
}

void LoweringTable::add(std::string type, LowerFunction lower, OutputMemory memory,
                        std::string kernel) {
  const bool added =
      entries_.emplace(std::move(type), LowerEntry{lower, memory, std::move(kernel)}).second;
  ASSAY_ASSERT(added, "two lowerings of one operator");
}

const LowerEntry* LoweringTable::find(const Node& node) const {
  const auto it = entries_.find(full_type(*node.op));
  return it == entries_.end() ? nullptr : &it->second;
}

const LoweringTable& lowering_table() {
  static const LoweringTable kTable = [] {
    LoweringTable table;
    add_convolution_lowerings(table);
    add_pooling_lowerings(table);
    add_normalization_lowerings(table);
    add_matrix_lowerings(table);
    add_activation_lowerings(table);
    add_elementwise_lowerings(table);
    add_softmax_lowerings(table);
    add_reduction_lowerings(table);
    add_layout_lowerings(table);
    add_index_lowerings(table);
    add_source_lowerings(table);
    add_math_lowerings(table);
    add_scatter_lowerings(table);
    add_arrange_lowerings(table);
    add_group_norm_lowerings(table);
    add_quantized_lowerings(table);
    add_resample_lowerings(table);
    add_recurrent_lowerings(table);
    add_backward_lowerings(table);
    return table;
  }();
  return kTable;
}

std::vector<ValueUse> value_uses(const Graph& graph, bool training) {
  std::vector<ValueUse> uses(graph.values().size());
  for (uint32_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const LowerEntry* entry = lowering_table().find(node);
    const OutputMemory memory = entry == nullptr ? OutputMemory::kView : entry->memory;
    const bool fresh = memory == OutputMemory::kOwn || (memory == OutputMemory::kKept && !training);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      ValueUse& use = uses[node.inputs[i]];
      ++use.readers;
      use.last_reader = n;
      use.viewed = use.viewed || memory == OutputMemory::kView;
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) uses[id].fresh = fresh;
    }
  }
  for (const ValueId id : graph.outputs()) uses[id].is_output = true;
  for (const State& state : graph.states()) {
    if (state.next != kNoValue) uses[state.next].is_output = true;
  }
  return uses;
}

Result<Step> lower_node(const Graph& graph, uint32_t node, const std::vector<ValueUse>& uses,
                        const LowerOptions& options) {
  const OpEntry& op = *graph.nodes()[node].op;
  const LowerEntry* entry = lowering_table().find(graph.nodes()[node]);
  // An operator that only a file knows has no checked attributes.
  if (entry == nullptr || op_table().find(op.domain, op.type) == nullptr) {
    return Lowering::unsupported("the torch engine has no lowering for " + full_type(op));
  }
  Result<Step> step = entry->lower(Lowering(graph, node, uses, options));
  if (step.ok() && step->kernel.empty()) step->kernel = entry->kernel;
  return step;
}

}  // namespace assay::torch_engine

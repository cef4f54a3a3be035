// SPDX-License-Identifier: Apache-2.0
#include "graph/operator.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "graph/ops/families.h"
#include "graph/ops/gradient.h"

namespace assay {
namespace {

auto key(const std::unique_ptr<OpEntry>& entry) {
  return std::tuple<std::string_view, std::string_view>(entry->domain, entry->type);
}

double elements(const TensorType* type) {
  if (type == nullptr) return 0;
  double product = 1;
  for (const Dim& dim : type->shape->dims()) product *= static_cast<double>(dim.size());
  return product;
}

double bytes(const TensorType* type) {
  return type == nullptr ? 0 : elements(type) * dtype_bits(type->dtype) / 8;
}

std::vector<const TensorType*> known_types(const Graph& graph, std::span<const ValueId> ids) {
  std::vector<const TensorType*> types;
  for (const ValueId id : ids) {
    const TensorType* type = id == kNoValue ? nullptr : &graph.value(id).type;
    ASSAY_ASSERT(type == nullptr || type->known(), "the cost of a node of unknown shape");
    types.push_back(type);
  }
  return types;
}

}  // namespace

double CostContext::input_elements(size_t input) const {
  return has(input) ? elements(inputs[input]) : 0;
}

double CostContext::output_elements(size_t output) const {
  return output < outputs.size() ? elements(outputs[output]) : 0;
}

Cost CostContext::operand_bytes() const {
  Cost cost;
  for (const TensorType* type : inputs) cost.read_bytes += bytes(type);
  for (const TensorType* type : outputs) cost.write_bytes += bytes(type);
  return cost;
}

bool has_body(const OpEntry& op) {
  return std::ranges::find(op.attributes, AttributeType::kGraph, &AttributeSpec::type) !=
         op.attributes.end();
}

void OpTable::add(OpEntry entry) {
  ASSAY_ASSERT(entry.infer != nullptr, "an operator without shape inference: " + entry.type);
  auto owned = std::make_unique<OpEntry>(std::move(entry));
  const auto place = std::ranges::lower_bound(entries_, key(owned), {}, key);
  ASSAY_ASSERT(place == entries_.end() || key(*place) != key(owned),
               "a second operator of the name " + owned->type);
  entries_.insert(place, std::move(owned));
}

const OpEntry* OpTable::find(std::string_view domain, std::string_view type) const {
  const std::tuple<std::string_view, std::string_view> wanted(domain, type);
  const auto place = std::ranges::lower_bound(entries_, wanted, {}, key);
  return place != entries_.end() && key(*place) == wanted ? place->get() : nullptr;
}

void OpTable::set_gradient(std::string_view domain, std::string_view type,
                           GradientFunction gradient) {
  const std::tuple<std::string_view, std::string_view> wanted(domain, type);
  const auto place = std::ranges::lower_bound(entries_, wanted, {}, key);
  ASSAY_ASSERT(place != entries_.end() && key(*place) == wanted && (*place)->gradient == nullptr,
               "a gradient of no operator, or a second one: " + std::string(type));
  (*place)->gradient = gradient;
}

std::vector<const OpEntry*> OpTable::entries() const {
  std::vector<const OpEntry*> all;
  for (const auto& entry : entries_) all.push_back(entry.get());
  return all;
}

const OpTable& op_table() {
  static const OpTable table = [] {
    OpTable t;
    add_convolution_ops(t);
    add_conv_transpose_ops(t);
    add_deform_conv_ops(t);
    add_pooling_ops(t);
    add_global_pool_ops(t);
    add_region_ops(t);
    add_normalization_ops(t);
    add_group_norm_ops(t);
    add_matrix_ops(t);
    add_quantized_ops(t);
    add_recurrent_ops(t);
    add_recurrent_gradient_ops(t);
    add_ctc_ops(t);
    add_sparse_ops(t);
    add_resize_ops(t);
    add_grid_ops(t);
    add_patch_ops(t);
    add_detection_ops(t);
    add_dropout_ops(t);
    add_activation_ops(t);
    add_math_ops(t);
    add_arithmetic_ops(t);
    add_logic_ops(t);
    add_softmax_ops(t);
    add_reduction_ops(t);
    add_axis_ops(t);
    add_reshape_ops(t);
    add_cast_ops(t);
    add_layout_ops(t);
    add_slice_ops(t);
    add_index_ops(t);
    add_source_ops(t);
    add_training_ops(t);
    add_random_ops(t);
    add_block_ops(t);
    add_scatter_ops(t);
    add_select_ops(t);
    add_signal_ops(t);
    add_window_function_ops(t);
    add_einsum_ops(t);
    add_determinant_ops(t);
    add_control_ops(t);
    add_optimizer_ops(t);
    add_backward_ops(t);
    add_backward_norm_ops(t);
    add_backward_index_ops(t);
    add_backward_pool_ops(t);
    add_gradients(t);
    return t;
  }();
  return table;
}

Result<Attributes> complete_attributes(const OpEntry& op, Attributes attributes) {
  for (const auto& [name, value] : attributes.items()) {
    const auto spec = std::ranges::find(op.attributes, name, &AttributeSpec::name);
    if (spec == op.attributes.end()) {
      std::vector<std::string> known;
      for (const AttributeSpec& s : op.attributes) known.push_back(s.name);
      Error error{ErrorCode::kInvalid, op.type + " has no attribute '" + name + "'"};
      if (const auto near = nearest_name(name, known)) error.hint = "did you mean '" + *near + "'?";
      return error;
    }
    if (spec->type != attribute_type(value)) {
      return Error{ErrorCode::kInvalid,
                   "attribute '" + name + "' must be " +
                       std::string(attribute_type_name(spec->type)) + ", not " +
                       std::string(attribute_type_name(attribute_type(value)))};
    }
  }
  for (const AttributeSpec& spec : op.attributes) {
    if (attributes.has(spec.name)) continue;
    if (spec.required) {
      return Error{ErrorCode::kInvalid, "attribute '" + spec.name + "' is required"};
    }
    if (spec.default_value) attributes.set(spec.name, *spec.default_value);
  }
  return attributes;
}

Cost node_cost(const Graph& graph, const Node& node) {
  const auto inputs = known_types(graph, node.inputs);
  const auto outputs = known_types(graph, node.outputs);
  std::vector<const Tensor*> constants;
  constants.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) constants.push_back(graph.constant_data(id));
  const CostContext context{inputs, outputs, node.attributes, constants};
  if (node.op->is_view) return {};
  return node.op->cost == nullptr ? context.operand_bytes() : node.op->cost(context);
}

}  // namespace assay

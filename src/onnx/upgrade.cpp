// SPDX-License-Identifier: Apache-2.0
#include "onnx/upgrade.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace assay::onnx {

const Tensor* PendingNode::constant(size_t input) const {
  return has(input) ? builder.peek().constant_data(inputs[input]) : nullptr;
}

void PendingNode::set_input(size_t input, ValueId value) {
  if (inputs.size() <= input) inputs.resize(input + 1, kNoValue);
  inputs[input] = value;
}

ValueId PendingNode::add_constant(std::string_view role, Tensor data) {
  const std::string& base = names.outputs.front();
  return builder.constant((base.empty() ? type : base) + "." + std::string(role), std::move(data));
}

Result<ValueId> PendingNode::add(std::string_view node_type, std::vector<ValueId> node_inputs,
                                 Attributes node_attributes) {
  ASSAY_ASSIGN(const std::vector<ValueId> outputs,
               builder.try_add("", node_type, std::move(node_inputs), 1, std::move(node_attributes),
                               names.outputs.front() + ".upgrade"));
  return outputs.front();
}

ValueId PendingNode::add_scalar(std::string_view role, float value) {
  const DType dtype = has(0) ? input_type(0).dtype : DType::kF32;
  auto scalar =
      materialize(Initializer::constant(value), TensorType(dtype, Shape()), RandomKey(0), role);
  return add_constant(role, scalar.ok() ? *std::move(scalar) : Tensor::scalar_f32(value));
}

Result<void> PendingNode::move_integers(std::string_view attribute, size_t input) {
  const std::optional<Attribute> value = attributes.take(attribute);
  if (!value) return {};
  const auto* one = std::get_if<int64_t>(&*value);
  const auto* list = std::get_if<std::vector<int64_t>>(&*value);
  if (one == nullptr && list == nullptr) {
    return wrong("attribute '" + std::string(attribute) + "' must be ints");
  }
  set_input(input, add_constant(attribute, Tensor::vector_i64(one != nullptr ? std::span(one, 1)
                                                                             : std::span(*list))));
  return {};
}

Error PendingNode::wrong(std::string message) const {
  return Error{ErrorCode::kInvalid, std::move(message), "node '" + names.node + "' (" + type + ")"};
}

Error PendingNode::unsupported(std::string message) const {
  return Error{ErrorCode::kUnsupported,
               type + " of opset " + std::to_string(opset) + ": " + message,
               "node '" + names.node + "' (" + type + ")"};
}

Result<std::vector<ValueId>> add_upgraded(PendingNode node) {
  std::vector<const Upgrade*> rows;
  for (const auto table : {broadcast_upgrades(), operand_upgrades(), meaning_upgrades()}) {
    for (const Upgrade& row : table) {
      if (row.type == node.type && node.opset < row.since) rows.push_back(&row);
    }
  }
  std::ranges::stable_sort(rows, {}, &Upgrade::since);
  const std::string original = node.type;
  for (const Upgrade* row : rows) ASSAY_TRY(row->apply(node));
  // A hint for in-place execution, of the oldest form.
  if (node.opset < 6) node.attributes.take("consumed_inputs");
  const OpEntry* op = op_table().find("", node.type);
  if (op == nullptr) {
    return Error{ErrorCode::kUnsupported, "operator '" + node.type + "' is not known",
                 "node '" + node.names.node + "' (" + original + ")"};
  }
  GraphBuilder& builder = node.builder;
  if (node.finish.empty()) {
    return builder.try_add(*op, std::move(node.inputs), std::move(node.attributes),
                           std::move(node.names));
  }
  const GraphBuilder::Names inner{node.names.node,
                                  std::vector<std::string>(node.names.outputs.size())};
  ASSAY_ASSIGN(std::vector<ValueId> outputs,
               builder.try_add(*op, std::move(node.inputs), std::move(node.attributes), inner));
  while (!node.finish.empty()) {
    const PendingNode::Finish finish = std::move(node.finish.back());
    node.finish.pop_back();
    ASSAY_ASSIGN(outputs,
                 finish(builder, std::move(outputs), node.finish.empty() ? node.names : inner));
  }
  return outputs;
}

}  // namespace assay::onnx

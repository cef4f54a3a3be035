// SPDX-License-Identifier: Apache-2.0
//
// Attributes that became inputs.
#include <array>

#include "onnx/upgrade.h"

namespace assay::onnx {
namespace {

Result<void> axes_to_input(PendingNode& node) {
  // An empty list means every axis, as does none.
  if (node.attributes.has("axes")) {
    const std::optional<Attribute> axes = node.attributes.take("axes");
    const auto* list = std::get_if<std::vector<int64_t>>(&*axes);
    if (list == nullptr || !list->empty()) node.attributes.set("axes", *axes);
  }
  return node.move_integers("axes", 1);
}

Result<void> slice_to_inputs(PendingNode& node) {
  ASSAY_TRY(node.move_integers("starts", 1));
  ASSAY_TRY(node.move_integers("ends", 2));
  return node.move_integers("axes", 3);
}

Result<void> sizes_to_input(PendingNode& node) { return node.move_integers("split", 1); }
Result<void> shape_to_input(PendingNode& node) { return node.move_integers("shape", 1); }
Result<void> k_to_input(PendingNode& node) { return node.move_integers("k", 1); }

Result<void> count_of_parts(PendingNode& node) {
  if (!node.has(1)) {
    node.attributes.set("num_outputs", static_cast<int64_t>(node.names.outputs.size()));
  }
  return {};
}

Result<void> old_paddings(PendingNode& node) {
  if (auto paddings = node.attributes.take("paddings")) {
    node.attributes.set("pads", *std::move(paddings));
  }
  return {};
}

Result<void> padding_to_inputs(PendingNode& node) {
  ASSAY_TRY(node.move_integers("pads", 1));
  const float value = node.take("value", 0.0F);
  if (value != 0) node.set_input(2, node.add_scalar("value", value));
  return {};
}

Result<void> limits_to_inputs(PendingNode& node) {
  for (const auto& [name, input] : {std::pair("min", size_t{1}), std::pair("max", size_t{2})}) {
    if (!node.attributes.has(name)) continue;
    node.set_input(input, node.add_scalar(name, node.take(name, 0.0F)));
  }
  return {};
}

// Until opset 7 dropping was the default, and `is_test` switched it off.
Result<void> dropout_of_old(PendingNode& node) {
  if (node.take<int64_t>("is_test", 0) == 0) {
    return node.unsupported("is_test = 0 draws random numbers");
  }
  return {};
}

// The mask was of the data's type.
Result<void> numeric_mask(PendingNode& node) {
  if (node.names.outputs.size() < 2 || !node.has(0)) return {};
  const int64_t to = dtype_to_onnx(node.input_type(0).dtype);
  node.finish.emplace_back([to](GraphBuilder& builder, std::vector<ValueId> outputs,
                                GraphBuilder::Names names) -> Result<std::vector<ValueId>> {
    builder.rename(outputs[0], names.outputs[0]);
    ASSAY_ASSIGN(const auto mask,
                 builder.try_add("", "Cast", {outputs[1]}, 1, {{"to", to}}, names.outputs[1]));
    return std::vector<ValueId>{outputs[0], mask[0]};
  });
  return {};
}

Result<void> ratio_to_input(PendingNode& node) {
  node.set_input(1, node.add_constant("ratio", Tensor::scalar_f32(node.take("ratio", 0.5F))));
  return {};
}

Result<void> transform_axis_to_input(PendingNode& node) {
  const int64_t axis = node.take<int64_t>("axis", 1);
  node.set_input(
      2, node.add_constant("axis", Tensor::from<int64_t>(DType::kI64, {}, std::span(&axis, 1))));
  return {};
}

constexpr std::array kTable{
    Upgrade{"ReduceSum", 13, axes_to_input},
    Upgrade{"ReduceL1", 18, axes_to_input},
    Upgrade{"ReduceL2", 18, axes_to_input},
    Upgrade{"ReduceLogSum", 18, axes_to_input},
    Upgrade{"ReduceLogSumExp", 18, axes_to_input},
    Upgrade{"ReduceMax", 18, axes_to_input},
    Upgrade{"ReduceMean", 18, axes_to_input},
    Upgrade{"ReduceMin", 18, axes_to_input},
    Upgrade{"ReduceProd", 18, axes_to_input},
    Upgrade{"ReduceSumSquare", 18, axes_to_input},
    Upgrade{"Squeeze", 13, axes_to_input},
    Upgrade{"Unsqueeze", 13, axes_to_input},
    Upgrade{"Slice", 10, slice_to_inputs},
    Upgrade{"Split", 13, sizes_to_input},
    Upgrade{"Split", 18, count_of_parts},
    Upgrade{"Reshape", 5, shape_to_input},
    Upgrade{"TopK", 10, k_to_input},
    Upgrade{"Pad", 2, old_paddings},
    Upgrade{"Pad", 11, padding_to_inputs},
    Upgrade{"Clip", 11, limits_to_inputs},
    Upgrade{"Dropout", 7, dropout_of_old},
    Upgrade{"Dropout", 10, numeric_mask},
    Upgrade{"Dropout", 12, ratio_to_input},
    Upgrade{"DFT", 20, transform_axis_to_input},
};

}  // namespace

std::span<const Upgrade> operand_upgrades() { return kTable; }

}  // namespace assay::onnx

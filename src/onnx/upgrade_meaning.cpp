// SPDX-License-Identifier: Apache-2.0
//
// Attributes whose meaning or default changed, and operators that were replaced.
#include <algorithm>
#include <array>
#include <string>

#include "onnx/tensor_data.h"
#include "onnx/upgrade.h"

namespace assay::onnx {
namespace {

constexpr int kAlways = 1000;  // also of the newest opset

// Softmax and its kin worked on the matrix that flattening at `axis` gives.
Result<void> flattened(PendingNode& node) {
  if (!node.has(0)) return {};
  int64_t axis = node.take<int64_t>("axis", 1);
  const auto& shape = node.input_type(0).shape;
  if (shape) {  // else it is flattened whatever the axis
    const auto rank = static_cast<int64_t>(shape->rank());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) return node.wrong("attribute 'axis' is out of range");
    if (axis == rank - 1) {
      node.attributes.set("axis", axis);
      return {};
    }
  }
  ASSAY_ASSIGN(const ValueId sizes, node.add("Shape", {node.inputs[0]}));
  ASSAY_ASSIGN(node.inputs[0], node.add("Flatten", {node.inputs[0]}, {{"axis", axis}}));
  node.attributes.set("axis", int64_t{1});
  node.finish.emplace_back(
      [sizes](GraphBuilder& builder, std::vector<ValueId> outputs, GraphBuilder::Names names) {
        return builder.try_add(*op_table().find("", "Reshape"), {outputs[0], sizes}, {},
                               std::move(names));
      });
  return {};
}

Result<void> type_by_name(PendingNode& node) {
  const std::optional<Attribute> to = node.attributes.take("to");
  if (!to || !std::holds_alternative<std::string>(*to)) {
    if (to) node.attributes.set("to", *to);
    return {};
  }
  // TensorProto.DataType, from 1 on.
  constexpr std::array<std::string_view, 13> kNames{
      "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32", "INT64",
      "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  const auto found = std::ranges::find(kNames, std::get<std::string>(*to));
  if (found == kNames.end()) return node.wrong("attribute 'to' names no type");
  node.attributes.set("to", static_cast<int64_t>(found - kNames.begin()) + 1);
  return {};
}

// Strings are refused for what they are, not as a number that names no type.
Result<void> type_in_scope(PendingNode& node) {
  if (!node.attributes.has("to")) return {};
  const auto to = node.take<int64_t>("to", 0);
  node.attributes.set("to", to);
  const auto dtype = dtype_of(to);
  if (!dtype.ok()) return node.unsupported(dtype.error().message);
  return {};
}

Result<void> axis_of_concat(PendingNode& node) {
  if (!node.attributes.has("axis")) node.attributes.set("axis", int64_t{1});
  return {};
}

Result<void> statistics_per_channel(PendingNode& node) {
  if (node.take<int64_t>("spatial", 1) == 0) {
    return node.unsupported("spatial = 0 keeps statistics of every position");
  }
  return {};
}

// The mode was told by the number of outputs.
Result<void> mode_of_normalization(PendingNode& node) {
  node.attributes.take("is_test");
  auto& outputs = node.names.outputs;
  while (outputs.size() > 1 && outputs.back().empty()) outputs.pop_back();
  if (outputs.size() > 3) return node.unsupported("saved_mean and saved_var are asked for");
  if (outputs.size() > 1) node.attributes.set("training_mode", int64_t{1});
  return {};
}

Result<void> whole_norm(PendingNode& node) {
  const std::optional<Attribute> p = node.attributes.take("p");
  if (!p) return {};
  if (const auto* number = std::get_if<float>(&*p)) {
    if (*number != static_cast<float>(static_cast<int>(*number))) {
      return node.unsupported("p is not a whole number");
    }
    node.attributes.set("p", static_cast<int64_t>(*number));
  } else {
    node.attributes.set("p", *p);
  }
  return {};
}

Result<void> old_selu(PendingNode& node) {
  if (!node.attributes.has("alpha")) node.attributes.set("alpha", 1.6732F);
  if (!node.attributes.has("gamma")) node.attributes.set("gamma", 1.0507F);
  return {};
}

Result<void> pixels_at_corners(PendingNode& node) {
  node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

Result<void> names_of_interpolation(PendingNode& node) {
  const auto mode = node.take<std::string>("mode", "bilinear");
  node.attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  return {};
}

Result<void> output_of_recurrence(PendingNode& node) {
  node.attributes.take("output_sequence");
  return {};
}

Result<void> renamed_scatter(PendingNode& node) {
  node.type = "ScatterElements";
  return {};
}

// Resize of opset 10 (data, scales), and Upsample: coordinates scale from the corner.
Result<void> old_resize(PendingNode& node) {
  const auto mode = node.take<std::string>("mode", "nearest");
  node.attributes.set("mode", mode == "bilinear" ? "linear" : mode);
  node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.set("nearest_mode", std::string("floor"));
  if (node.inputs.size() < 2) return node.wrong("input 1 (scales) is missing");
  node.inputs.insert(node.inputs.begin() + 1, kNoValue);
  node.type = "Resize";
  return {};
}

Result<void> upsample(PendingNode& node) {
  std::vector<float> scales;
  if (node.attributes.has("scales")) {
    scales = node.take<std::vector<float>>("scales", {});
  } else if (node.attributes.has("width_scale") || node.attributes.has("height_scale")) {
    const float height = node.take("height_scale", 1.0F);
    scales = {1, 1, height, node.take("width_scale", 1.0F)};
  }
  if (!scales.empty()) {
    const auto count = static_cast<int64_t>(scales.size());
    node.set_input(1,
                   node.add_constant("scales", Tensor::from<float>(DType::kF32, {count}, scales)));
  }
  return old_resize(node);
}

// Exporters write an operand that is not wanted as a tensor without elements.
Result<void> empty_operands(PendingNode& node) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.has(i)) continue;
    const TensorType& type = node.input_type(i);
    if (type.known() && *type.shape->elements() == 0) node.inputs[i] = kNoValue;
  }
  return {};
}

// One scale and bias a group became one a channel: each repeated.
Result<void> scale_by_channel(PendingNode& node) {
  if (!node.has(0) || !node.has(1) || !node.has(2)) return {};
  const auto& shape = node.input_type(0).shape;
  const auto groups = node.take<int64_t>("num_groups", 0);
  node.attributes.set("num_groups", groups);
  if (!shape || shape->rank() < 2 || !(*shape)[1].known()) {
    return node.unsupported("the number of channels is not known");
  }
  const int64_t channels = (*shape)[1].size();
  if (groups < 1 || channels % groups != 0) return node.wrong("attribute 'num_groups' is wrong");
  const ValueId axis = node.add_constant("axis", Tensor::vector_i64(std::vector<int64_t>{1}));
  const ValueId table = node.add_constant(
      "repeat", Tensor::vector_i64(std::vector<int64_t>{groups, channels / groups}));
  const ValueId list = node.add_constant("list", Tensor::vector_i64(std::vector<int64_t>{-1}));
  for (const size_t input : {size_t{1}, size_t{2}}) {
    ASSAY_ASSIGN(const ValueId column, node.add("Unsqueeze", {node.inputs[input], axis}));
    ASSAY_ASSIGN(const ValueId repeated, node.add("Expand", {column, table}));
    ASSAY_ASSIGN(node.inputs[input], node.add("Reshape", {repeated, list}));
  }
  return {};
}

Result<void> batched_scan(PendingNode& node) {
  return node.unsupported("its form with a batch dimension and sequence lengths");
}

Result<void> single_axis_tile(PendingNode& node) {
  return node.unsupported("its form with one axis and a number of tiles");
}

Result<void> normalization_across(PendingNode& node) {
  return node.unsupported("its experimental form");
}

constexpr std::array kTable{
    Upgrade{"Softmax", 13, flattened},
    Upgrade{"LogSoftmax", 13, flattened},
    Upgrade{"Hardmax", 13, flattened},
    Upgrade{"Cast", 6, type_by_name},
    Upgrade{"Cast", kAlways, type_in_scope},
    Upgrade{"Concat", 4, axis_of_concat},
    Upgrade{"BatchNormalization", 9, statistics_per_channel},
    Upgrade{"BatchNormalization", 14, mode_of_normalization},
    Upgrade{"LpPool", 2, whole_norm},
    Upgrade{"GlobalLpPool", 2, whole_norm},
    Upgrade{"Selu", 6, old_selu},
    Upgrade{"RoiAlign", 16, pixels_at_corners},
    Upgrade{"GridSample", 20, names_of_interpolation},
    Upgrade{"RNN", 7, output_of_recurrence},
    Upgrade{"GRU", 7, output_of_recurrence},
    Upgrade{"LSTM", 7, output_of_recurrence},
    Upgrade{"Scatter", kAlways, renamed_scatter},
    Upgrade{"Resize", 11, old_resize},
    Upgrade{"Resize", kAlways, empty_operands},
    Upgrade{"Upsample", kAlways, upsample},
    Upgrade{"GroupNormalization", 21, scale_by_channel},
    Upgrade{"Scan", 9, batched_scan},
    Upgrade{"Tile", 6, single_axis_tile},
    Upgrade{"MeanVarianceNormalization", 9, normalization_across},
};

}  // namespace

std::span<const Upgrade> meaning_upgrades() { return kTable; }

}  // namespace assay::onnx

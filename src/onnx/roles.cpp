// SPDX-License-Identifier: Apache-2.0
#include "onnx/roles.h"

#include <algorithm>
#include <array>
#include <vector>

#include "graph/dtype.h"

namespace assay::onnx {
namespace {

enum class Use : uint8_t { kShape, kSetting, kState, kWeight };

struct Operand {
  std::string_view type;
  size_t input;
  Use use;
};

constexpr size_t kAfter = 100;  // kAfter + n: input n and all that follow

// Inputs that are not data. kShape: the output's shape is computed from the value.
constexpr std::array kOperands{
    Operand{"Reshape", 1, Use::kShape},
    Operand{"Expand", 1, Use::kShape},
    Operand{"Tile", kAfter + 1, Use::kShape},
    Operand{"Slice", kAfter + 1, Use::kShape},
    Operand{"Pad", kAfter + 1, Use::kShape},
    Operand{"Resize", kAfter + 1, Use::kShape},
    Operand{"Upsample", kAfter + 1, Use::kShape},
    Operand{"TopK", 1, Use::kShape},
    Operand{"Split", 1, Use::kShape},
    Operand{"Squeeze", 1, Use::kShape},
    Operand{"Unsqueeze", 1, Use::kShape},
    Operand{"ConstantOfShape", 0, Use::kShape},
    Operand{"Range", kAfter + 0, Use::kShape},
    Operand{"OneHot", kAfter + 1, Use::kShape},
    Operand{"CenterCropPad", 1, Use::kShape},
    Operand{"AffineGrid", 1, Use::kShape},
    Operand{"Col2Im", kAfter + 1, Use::kShape},
    Operand{"MaxUnpool", 2, Use::kShape},
    Operand{"Loop", 0, Use::kShape},
    Operand{"Clip", kAfter + 1, Use::kSetting},
    Operand{"Dropout", kAfter + 1, Use::kSetting},
    Operand{"NonMaxSuppression", kAfter + 2, Use::kSetting},
    Operand{"QuantizeLinear", kAfter + 1, Use::kSetting},
    Operand{"DequantizeLinear", kAfter + 1, Use::kSetting},
    Operand{"QLinearConv", 1, Use::kSetting},
    Operand{"QLinearConv", 2, Use::kSetting},
    Operand{"QLinearConv", 4, Use::kSetting},
    Operand{"QLinearConv", 5, Use::kSetting},
    Operand{"QLinearConv", 6, Use::kSetting},
    Operand{"QLinearConv", 7, Use::kSetting},
    Operand{"QLinearMatMul", 1, Use::kSetting},
    Operand{"QLinearMatMul", 2, Use::kSetting},
    Operand{"QLinearMatMul", 4, Use::kSetting},
    Operand{"QLinearMatMul", 5, Use::kSetting},
    Operand{"QLinearMatMul", 6, Use::kSetting},
    Operand{"QLinearMatMul", 7, Use::kSetting},
    Operand{"ConvInteger", kAfter + 2, Use::kSetting},
    Operand{"MatMulInteger", kAfter + 2, Use::kSetting},
    Operand{"BatchNormalization", 3, Use::kState},
    Operand{"BatchNormalization", 4, Use::kState},
    Operand{"QLinearConv", 3, Use::kWeight},
    Operand{"QLinearConv", 8, Use::kWeight},
    Operand{"QLinearMatMul", 0, Use::kWeight},
    Operand{"QLinearMatMul", 3, Use::kWeight},
    Operand{"ConvInteger", 1, Use::kWeight},
    Operand{"MatMulInteger", 0, Use::kWeight},
    Operand{"MatMulInteger", 1, Use::kWeight},
    Operand{"DequantizeLinear", 0, Use::kWeight},
};

// Operators between a computed shape and the data that it does not depend on any more.
constexpr std::array<std::string_view, 16> kOpaque{
    "Shape",   "Size",   "Conv",    "ConvTranspose",
    "MatMul",  "Gemm",   "LSTM",    "GRU",
    "RNN",     "TopK",   "Softmax", "NonMaxSuppression",
    "NonZero", "ArgMax", "ArgMin",  "BatchNormalization"};

// Larger tensors are weights, whatever is computed from them.
constexpr int64_t kLargestSetting = 1024;

int64_t size_of(const TensorRecord& tensor) {
  int64_t product = 1;
  for (const int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(product, dim, &product)) return INT64_MAX;
  }
  return product;
}

}  // namespace

Roles::Roles(const GraphRecord& graph) {
  visit(graph);
  trace_shapes();
}

void Roles::visit(const GraphRecord& graph) {
  for (const NodeRecord& node : graph.nodes) visit(node);
}

void Roles::visit(const NodeRecord& node) {
  for (const std::string_view name : node.outputs) {
    if (!name.empty()) producers_.emplace(name, &node);
  }
  for (const AttributeRecord& attribute : node.attributes) {
    if (const auto* body = std::get_if<std::shared_ptr<GraphRecord>>(&attribute.value)) {
      visit(**body);
    }
  }
  if (!node.domain.empty()) return;
  for (const Operand& operand : kOperands) {
    if (operand.type != node.type) continue;
    const size_t first = operand.input % kAfter;
    const size_t last = operand.input >= kAfter ? node.inputs.size() : first + 1;
    for (size_t i = first; i < std::min(last, node.inputs.size()); ++i) {
      std::unordered_set<std::string_view>* set = &settings_;
      if (operand.use == Use::kShape) set = &shaping_;
      if (operand.use == Use::kState) set = &states_;
      if (operand.use == Use::kWeight) set = &weights_;
      set->insert(node.inputs[i]);
    }
  }
}

// From the operands that give a shape backwards to everything they are computed from.
void Roles::trace_shapes() {
  std::vector<std::string_view> open(shaping_.begin(), shaping_.end());
  while (!open.empty()) {
    const auto producer = producers_.find(open.back());
    open.pop_back();
    if (producer == producers_.end()) continue;
    const NodeRecord& node = *producer->second;
    if (std::ranges::find(kOpaque, node.type) != kOpaque.end()) continue;
    for (const std::string_view name : node.inputs) {
      if (!name.empty() && shaping_.insert(name).second) open.push_back(name);
    }
  }
}

Role Roles::of(const TensorRecord& tensor, std::string_view name) const {
  const auto dtype = dtype_from_onnx(tensor.data_type);
  if (!dtype || tensor.dims.empty()) return Role::kConstant;
  if (is_floating(*dtype) && states_.contains(name)) return Role::kState;
  if (!is_floating(*dtype) && !weights_.contains(name)) return Role::kConstant;
  if (settings_.contains(name)) return Role::kConstant;
  const bool small = size_of(tensor) <= kLargestSetting;
  return small && shaping_.contains(name) ? Role::kConstant : Role::kParameter;
}

}  // namespace assay::onnx

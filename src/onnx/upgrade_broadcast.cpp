// SPDX-License-Identifier: Apache-2.0
//
// Opsets before 7 broadcast only on request: the second operand's dimensions stand for those of the
// first from `axis` on, by default the last ones.
#include <array>

#include "onnx/upgrade.h"

namespace assay::onnx {
namespace {

// Appends dimensions of size 1 to input 1, so that its first one stands at `axis` of input 0.
Result<void> align(PendingNode& node, int64_t axis) {
  if (!node.has(0) || !node.has(1)) return {};
  const auto& a = node.input_type(0).shape;
  const auto& b = node.input_type(1).shape;
  if (!a || !b) return node.unsupported("it broadcasts along an axis and the rank is not known");
  const auto rank = static_cast<int64_t>(a->rank());
  const auto given = static_cast<int64_t>(b->rank());
  if (axis < 0) axis += rank;
  const int64_t missing = rank - axis - given;
  if (axis < 0 || missing < 0) return node.wrong("attribute 'axis' is out of range");
  if (missing == 0) return {};
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < missing; ++i) axes.push_back(given + i);
  const ValueId where = node.add_constant("axes", Tensor::vector_i64(axes));
  ASSAY_ASSIGN(node.inputs[1], node.add("Unsqueeze", {node.inputs[1], where}));
  return {};
}

Result<void> broadcast_on_request(PendingNode& node) {
  const auto requested = node.take<int64_t>("broadcast", 0);
  const std::optional<Attribute> axis = node.attributes.take("axis");
  if (requested == 0 || !axis) return {};
  if (!std::holds_alternative<int64_t>(*axis)) return node.wrong("attribute 'axis' must be int");
  return align(node, std::get<int64_t>(*axis));
}

// One slope a channel: channels are axis 1.
Result<void> slope_by_channel(PendingNode& node) {
  if (!node.has(1) || !node.input_type(1).shape) return {};
  const Shape& slope = *node.input_type(1).shape;
  if (slope.rank() != 1 || slope[0] == Dim(1)) return {};
  return align(node, 1);
}

Result<void> drop_request(PendingNode& node) {
  node.attributes.take("broadcast");
  return {};
}

constexpr std::array kTable{
    Upgrade{"Add", 7, broadcast_on_request},   Upgrade{"Sub", 7, broadcast_on_request},
    Upgrade{"Mul", 7, broadcast_on_request},   Upgrade{"Div", 7, broadcast_on_request},
    Upgrade{"Pow", 7, broadcast_on_request},   Upgrade{"And", 7, broadcast_on_request},
    Upgrade{"Or", 7, broadcast_on_request},    Upgrade{"Xor", 7, broadcast_on_request},
    Upgrade{"Equal", 7, broadcast_on_request}, Upgrade{"Greater", 7, broadcast_on_request},
    Upgrade{"Less", 7, broadcast_on_request},  Upgrade{"PRelu", 7, slope_by_channel},
    Upgrade{"Gemm", 7, drop_request},
};

}  // namespace

std::span<const Upgrade> broadcast_upgrades() { return kTable; }

}  // namespace assay::onnx

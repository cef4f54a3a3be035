// SPDX-License-Identifier: Apache-2.0
//
// What RNN, LSTM, GRU and assay.RecurrentSkip share: attributes, sizes, activations. Source: ONNX
// operators RNN, LSTM and GRU 14.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/infer.h"

namespace assay {

enum class CellKind : uint8_t { kRnn, kLstm, kGru };

// Gates of a cell: their rows follow each other in the weights.
constexpr int64_t cell_gates(CellKind cell) {
  return cell == CellKind::kLstm ? 4 : cell == CellKind::kGru ? 3 : 1;
}
// Activations of one direction: f, g, h.
constexpr size_t cell_activations(CellKind cell) {
  return cell == CellKind::kLstm ? 3 : cell == CellKind::kGru ? 2 : 1;
}

// One of ONNX's activation functions with its two numbers.
class Activation {
 public:
  // Nothing for an unknown name; alpha and beta are the function's defaults.
  static std::optional<Activation> named(std::string_view name);

  double operator()(double x) const;
  // The derivative at x, where y is the value.
  double slope(double x, double y) const;
  bool takes_alpha() const;
  bool takes_beta() const;
  double flops() const;            // of one value
  double transcendentals() const;  // likewise

  double alpha = 0;
  double beta = 0;

 private:
  enum class Kind : uint8_t {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus,
  };
  struct Named;
  static const std::vector<Named>& all();

  Kind kind_ = Kind::kTanh;
};

// Everything that attributes say; `activations` has cell_activations() for each direction.
struct RecurrentAttributes {
  CellKind cell = CellKind::kRnn;
  int64_t directions = 1;
  bool first_is_reverse = false;
  bool batch_first = false;          // layout 1
  bool input_forget = false;         // LSTM: the forget gate is 1 - the input gate
  bool linear_before_reset = false;  // GRU
  double clip = 0;                   // 0: none
  std::vector<Activation> activations = {};
};
Result<RecurrentAttributes> recurrent_attributes(CellKind cell, const Attributes& attributes);

// The sizes of one node.
struct RecurrentSizes {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t input = 0;
  int64_t hidden = 0;
};

// FLOPs and transcendentals of the element-wise part of one unit of one step, the gates' sums and
// biases included.
struct UnitCost {
  double flops = 0;
  double transcendentals = 0;
};
UnitCost unit_cost(const RecurrentAttributes& attributes, bool bias, bool peepholes);

// The attributes that all cells have; the types of Y, Y_h and Y_c; the cost of a node.
std::vector<AttributeSpec> recurrent_specs();
Result<Types> recurrent_types(CellKind cell, const InferContext& context);
Cost recurrent_cost(CellKind cell, const CostContext& context);

// A kernel for one cell; with `skip` the input is added to every gate without a product.
Result<void> run_recurrent(CellKind cell, const KernelContext& context);
Result<void> run_recurrent_skip(CellKind cell, const RecurrentAttributes& attributes,
                                const KernelContext& context);

}  // namespace assay

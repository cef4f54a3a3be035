// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "graph/ops/recurrent.h"

namespace assay {

struct Activation::Named {
  std::string_view name;
  Kind kind;
  double alpha;
  double beta;
  int numbers;  // how many of alpha and beta it takes
  double flops;
  double transcendentals;
};

const std::vector<Activation::Named>& Activation::all() {
  static const std::vector<Named> table{
      {"Relu", Kind::kRelu, 0, 0, 0, 1, 0},
      {"Tanh", Kind::kTanh, 0, 0, 0, 0, 1},
      {"Sigmoid", Kind::kSigmoid, 0, 0, 0, 2, 2},
      {"Affine", Kind::kAffine, 1, 0, 2, 2, 0},
      {"LeakyRelu", Kind::kLeakyRelu, 0.01, 0, 1, 2, 0},
      {"ThresholdedRelu", Kind::kThresholdedRelu, 1, 0, 1, 1, 0},
      {"ScaledTanh", Kind::kScaledTanh, 1, 1, 2, 2, 1},
      {"HardSigmoid", Kind::kHardSigmoid, 0.2, 0.5, 2, 4, 0},
      {"Elu", Kind::kElu, 1, 0, 1, 3, 1},
      {"Softsign", Kind::kSoftsign, 0, 0, 0, 2, 1},
      {"Softplus", Kind::kSoftplus, 0, 0, 0, 1, 2},
  };
  return table;
}

std::optional<Activation> Activation::named(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Named::name);
  if (found == all().end()) return std::nullopt;
  Activation activation;
  activation.kind_ = found->kind;
  activation.alpha = found->alpha;
  activation.beta = found->beta;
  return activation;
}

bool Activation::takes_alpha() const { return all()[static_cast<size_t>(kind_)].numbers > 0; }
bool Activation::takes_beta() const { return all()[static_cast<size_t>(kind_)].numbers > 1; }
double Activation::flops() const { return all()[static_cast<size_t>(kind_)].flops; }
double Activation::transcendentals() const {
  return all()[static_cast<size_t>(kind_)].transcendentals;
}

double Activation::operator()(double x) const {
  switch (kind_) {
    case Kind::kRelu:
      return std::max(x, 0.0);
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Kind::kThresholdedRelu:
      return x > alpha ? x : 0;
    case Kind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::kHardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Kind::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::kSoftsign:
      return x / (1 + std::abs(x));
    case Kind::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

double Activation::slope(double x, double y) const {
  switch (kind_) {
    case Kind::kRelu:
      return x > 0 ? 1 : 0;
    case Kind::kTanh:
      return 1 - y * y;
    case Kind::kSigmoid:
      return y * (1 - y);
    case Kind::kAffine:
      return alpha;
    case Kind::kLeakyRelu:
      return x >= 0 ? 1 : alpha;
    case Kind::kThresholdedRelu:
      return x > alpha ? 1 : 0;
    case Kind::kScaledTanh: {
      const double t = std::tanh(beta * x);
      return alpha * beta * (1 - t * t);
    }
    case Kind::kHardSigmoid:
      return y > 0 && y < 1 ? alpha : 0;
    case Kind::kElu:
      return x >= 0 ? 1 : y + alpha;
    case Kind::kSoftsign:
      return 1 / ((1 + std::abs(x)) * (1 + std::abs(x)));
    case Kind::kSoftplus:
      return 1 / (1 + std::exp(-x));
  }
  return 1;
}

namespace {

std::vector<std::string> default_activations(CellKind cell, int64_t directions) {
  const std::vector<std::string> one =
      cell == CellKind::kLstm  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
      : cell == CellKind::kGru ? std::vector<std::string>{"Sigmoid", "Tanh"}
                               : std::vector<std::string>{"Tanh"};
  std::vector<std::string> all;
  for (int64_t d = 0; d < directions; ++d) all.insert(all.end(), one.begin(), one.end());
  return all;
}

std::vector<float> numbers(const Attributes& attributes, std::string_view name) {
  return attributes.has(name) ? attributes.get<std::vector<float>>(name) : std::vector<float>();
}

// alpha and beta are lists for those functions that take them, in order.
Result<std::vector<Activation>> activations(CellKind cell, const Attributes& attributes,
                                            int64_t directions) {
  const std::vector<std::string> names =
      attributes.has("activations") ? attributes.get<std::vector<std::string>>("activations")
                                    : default_activations(cell, directions);
  const size_t needed = static_cast<size_t>(directions) * cell_activations(cell);
  if (names.size() != needed) {
    return invalid("attribute 'activations' has " + std::to_string(names.size()) + " names where " +
                   std::to_string(needed) + " are needed");
  }
  const std::vector<float> alphas = numbers(attributes, "activation_alpha");
  const std::vector<float> betas = numbers(attributes, "activation_beta");
  size_t alpha = 0;
  size_t beta = 0;
  std::vector<Activation> result;
  for (const std::string& name : names) {
    std::optional<Activation> activation = Activation::named(name);
    if (!activation) {
      return Error{ErrorCode::kUnsupported,
                   "attribute 'activations' names '" + name + "', which ONNX does not have"};
    }
    if (activation->takes_alpha() && alpha < alphas.size()) {
      activation->alpha = static_cast<double>(alphas[alpha++]);
    }
    if (activation->takes_beta() && beta < betas.size()) {
      activation->beta = static_cast<double>(betas[beta++]);
    }
    result.push_back(*activation);
  }
  return result;
}

bool flag(const Attributes& attributes, std::string_view name) {
  return attributes.has(name) && attributes.integer(name) != 0;
}

}  // namespace

Result<RecurrentAttributes> recurrent_attributes(CellKind cell, const Attributes& attributes) {
  RecurrentAttributes r;
  r.cell = cell;
  const std::string& direction = attributes.string("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return invalid("attribute 'direction' is '" + direction +
                   "', not forward, reverse or bidirectional");
  }
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.first_is_reverse = direction == "reverse";
  r.batch_first = flag(attributes, "layout");
  r.input_forget = flag(attributes, "input_forget");
  r.linear_before_reset = flag(attributes, "linear_before_reset");
  if (attributes.has("clip")) {
    r.clip = static_cast<double>(attributes.number("clip"));
    if (!(r.clip > 0)) return invalid("attribute 'clip' is not positive");
  }
  ASSAY_ASSIGN(r.activations, activations(cell, attributes, r.directions));
  return r;
}

// Sums of the input's and the state's products: 1 a gate; bias 1 a gate; what the cell does with
// its gates: LSTM f c + i g and o h 4 (with coupled gates 1 - i more), GRU r h, (1 - z) n + z h 5;
// peepholes a product and a sum for each of 3 gates; clipping two comparisons a gate.
UnitCost unit_cost(const RecurrentAttributes& r, bool bias, bool peepholes) {
  const auto gates = static_cast<double>(cell_gates(r.cell));
  UnitCost cost;
  cost.flops = gates * (bias ? 2 : 1) + (r.clip > 0 ? 2 * gates : 0);
  const auto add = [&](size_t activation, double times) {
    cost.flops += times * r.activations[activation].flops();
    cost.transcendentals += times * r.activations[activation].transcendentals();
  };
  if (r.cell == CellKind::kRnn) {
    add(0, 1);
  } else if (r.cell == CellKind::kLstm) {
    cost.flops += 4 + (r.input_forget ? 1 : 0) + (peepholes ? 6 : 0);
    add(0, r.input_forget ? 2 : 3);
    add(1, 1);
    add(2, 1);
  } else {
    cost.flops += 5;
    add(0, 2);
    add(1, 1);
  }
  return cost;
}

}  // namespace assay

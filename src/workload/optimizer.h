// SPDX-License-Identifier: Apache-2.0
//
// What an optimiser step is, as numbers: engines implement it, workloads configure it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/graph.h"

namespace assay {

enum class OptimizerKind : uint8_t { kSgd, kAdam, kAdamW };
std::string_view optimizer_name(OptimizerKind kind);
Result<OptimizerKind> parse_optimizer(std::string_view name);

// SGD follows PyTorch's form: g += decay * w; m = momentum * m + g; w -= rate * (nesterov ? g +
// momentum * m : m). Adam is Kingma and Ba 2015; AdamW decouples the decay (Loshchilov, Hutter
// 2019).
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kSgd;
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  // Decay groups: parameters of rank 0 and 1 (biases, normalisation scales) are not decayed.
  bool decay_matrices_only = true;
  std::optional<double> clip_norm;  // global L2 norm of all gradients

  double decay_for(const TensorType& parameter) const;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The optimiser step in plain loops on host memory: what every engine's own step is checked
// against. It follows PyTorch's forms (torch.optim.SGD, Adam, AdamW; clip_grad_norm_), in float
// arithmetic as they do. Cost: one pass over parameters and moments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/tensor.h"
#include "workload/optimizer.h"

namespace assay {

// One trainable parameter, its gradient, and the moments that the optimiser keeps for it.
struct OptimizedParameter {
  Tensor value;     // f32
  Tensor gradient;  // f32, same shape
  Tensor first;     // momentum, or Adam's first moment; made by the first step that needs it
  Tensor second;    // Adam's second moment
};

// L2 norm over all gradients, accumulated in double.
double gradient_norm(std::span<const OptimizedParameter> parameters);

// Multiplies all gradients by limit / (norm + 1e-6) when that is below 1, as PyTorch does. Returns
// the norm before.
double clip_gradients(std::span<OptimizedParameter> parameters, double limit);

// Clips if configured, then moves every parameter. `step` is 0-based; it drives Adam's bias
// correction, and step 0 starts the momentum with the gradient itself.
void optimizer_step(const OptimizerConfig& config, double rate, int64_t step,
                    std::span<OptimizedParameter> parameters);

}  // namespace assay

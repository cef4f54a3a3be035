// SPDX-License-Identifier: Apache-2.0
//
// The optimiser step through libtorch's fused kernels: one pass over parameters and moments. On CPU
// fused SGD takes less than half the time of the _foreach_ form or of a loop of single operations
// (docs/engines/torch.md). Parameters are grouped by weight decay. Formulas: workload/optimizer.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "engine/engine.h"
#include "graph/graph.h"
#include "workload/optimizer.h"

namespace assay::torch_engine {

class Optimizer {
 public:
  explicit Optimizer(const OptimizerConfig& config) : config_(config) {}

  // `value` is a leaf that requires its gradient.
  void add(std::string name, const TensorType& type, at::Tensor value);
  // Clips if configured, steps, clears the gradients. kInvalid when there is no gradient at all.
  Result<void> step(double rate);
  void clear_gradients();

  // Momentum and moments as "optimizer.first.NAME" and "optimizer.second.NAME", and
  // "optimizer.step", the number of steps taken.
  void save(NamedTensors& state) const;
  // kInvalid names the entry that is missing or does not fit.
  Result<void> load(const NamedTensors& state);
  Bytes bytes() const;
  Bytes gradient_bytes() const;

 private:
  struct Entry {
    std::string name;
    at::Tensor value;
    at::Tensor first;   // momentum, or Adam's first moment; undefined where not kept
    at::Tensor second;  // Adam's second moment
  };
  struct Group {
    double decay = 0;
    std::vector<Entry> entries;
    // What the kernel takes, for the entries that have a gradient now; kept to be filled again.
    std::vector<at::Tensor> values, gradients, first, second, steps;
  };
  void collect(Group& group) const;
  void clip();
  void step_group(Group& group, double rate);

  OptimizerConfig config_;
  std::vector<Group> groups_;
  at::Tensor steps_;  // f32 scalar on the device, for Adam's bias correction
  int64_t taken_ = 0;
};

}  // namespace assay::torch_engine

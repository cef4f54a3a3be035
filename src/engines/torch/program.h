// SPDX-License-Identifier: Apache-2.0
//
// TorchProgram: inference through an Executable, in libtorch's inference mode. A run has finished
// when enqueue() returns; wait() is free.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engines/torch/executable.h"

namespace assay::torch_engine {

class TorchProgram final : public Program {
 public:
  // `plan.threads` is resolved: not 0.
  TorchProgram(std::unique_ptr<Executable> executable, Plan plan, RandomKey seed)
      : executable_(std::move(executable)),
        plan_(plan),
        seed_(seed),
        weight_bytes_(executable_->store().bytes()) {}

  Result<Ticket> enqueue(std::span<const TensorView> inputs,
                         std::span<const TensorView> outputs) override;
  Result<void> wait(Ticket /*ticket*/) override { return {}; }
  Json as_compiled() const override;
  MemoryUse memory() const override;

 private:
  Result<void> deliver(std::span<const TensorView> outputs);

  std::unique_ptr<Executable> executable_;
  Plan plan_;
  RandomKey seed_;
  Bytes weight_bytes_;
  std::optional<Bytes> peak_;  // of the first run
  uint64_t runs_ = 0;
};

}  // namespace assay::torch_engine

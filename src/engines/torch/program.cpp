// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/program.h"

#include <string>

#include <c10/core/InferenceMode.h>

#include "base/json.h"
#include "engines/torch/device.h"
#include "engines/torch/guarded.h"
#include "engines/torch/memory_peak.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {

Result<Program::Ticket> TorchProgram::enqueue(std::span<const TensorView> inputs,
                                              std::span<const TensorView> outputs) {
  return guarded(executable_->graph().name(), [&]() -> Result<Ticket> {
    use_threads(plan_.threads);
    const c10::InferenceMode inference;
    if (peak_) {
      ASSAY_TRY(executable_->run(inputs, seed_, runs_));
    } else {
      ASSAY_TRY(executable_->prepare());
      const MemoryPeak peak;
      ASSAY_TRY(executable_->run(inputs, seed_, runs_));
      peak_ = Bytes{peak.bytes()};
    }
    ASSAY_TRY(deliver(outputs));
    executable_->release();
    return static_cast<Ticket>(runs_++);
  });
}

Result<void> TorchProgram::deliver(std::span<const TensorView> outputs) {
  const Graph& graph = executable_->graph();
  if (outputs.size() != graph.outputs().size()) {
    return Error{ErrorCode::kInvalid,
                 std::to_string(outputs.size()) + " output buffers given, the graph has " +
                     std::to_string(graph.outputs().size()),
                 graph.name()};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& value = executable_->output(i);
    ASSAY_ASSIGN(const at::Tensor target, alias(outputs[i], at::kCPU));
    if (target.scalar_type() != value.scalar_type() || target.sizes() != value.sizes()) {
      return Error{ErrorCode::kInvalid,
                   "output buffer does not fit " + graph.value(graph.outputs()[i]).type.text(),
                   graph.value(graph.outputs()[i]).name};
    }
    target.copy_(value);
  }
  return {};
}

Json TorchProgram::as_compiled() const {
  const LowerOptions& options = executable_->options();
  return Json{{"precision", std::string(precision_name(plan_.precision))},
              {"layout", options.channels_last ? "channels-last" : "row-major"},
              {"device", plan_.device.text()},
              {"threads", plan_.threads},
              {"instruction_set", instruction_set()},
              {"nodes", executable_->nodes_json()}};
}

MemoryUse TorchProgram::memory() const {
  MemoryUse use;
  use.parameters = weight_bytes_;
  use.activations = peak_;
  return use;
}

}  // namespace assay::torch_engine

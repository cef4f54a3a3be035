// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/torch_engine.h"

#include <malloc.h>

#include <string>
#include <utility>

#include <torch/version.h>

#include "engine/weights.h"
#include "engines/torch/device.h"
#include "engines/torch/guarded.h"
#include "engines/torch/program.h"
#include "engines/torch/trainer.h"

namespace assay::torch_engine {
namespace {

// A training step frees and asks for the same large blocks again. By default glibc gives blocks of
// this size back to the kernel and takes zeroed pages anew at every step; keeping them saves the
// page faults.
void keep_freed_memory() {
  constexpr int kLarge = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
}

bool has_image_convolution(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op->type != "Conv") continue;
    const auto& shape = graph.value(node.inputs[0]).type.shape;
    if (shape && shape->rank() == 4) return true;
  }
  return false;
}

LowerOptions lower_options(const Graph& graph, const Plan& plan, at::Device device, bool training) {
  LowerOptions options;
  options.device = device;
  options.training = training;
  options.channels_last = plan.optimization_level >= 1 && has_image_convolution(graph);
  options.fuse = plan.optimization_level >= 2;
  return options;
}

Result<Graph> with_precision(const Graph& graph, const Plan& plan) {
  if (plan.precision == Precision::kTF32 && plan.device.kind != DeviceKind::kCuda) {
    return Error{ErrorCode::kUnsupported, "libtorch has tf32 on CUDA devices only", graph.name()};
  }
  return apply_precision(graph, plan.precision);
}

class TorchEngine final : public Engine {
 public:
  std::string name() const override { return "torch"; }
  std::string version() const override {
    return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
           std::to_string(TORCH_VERSION_PATCH);
  }
  std::vector<Device> devices() const override { return libtorch_devices(); }

  std::vector<Unsupported> unsupported(const Graph& graph, const Plan& plan) const override {
    const auto device = open_device(plan.device);
    if (!device.ok()) return {{"", "", device.error().message}};
    const Result<Graph> policy = with_precision(graph, plan);
    if (!policy.ok()) return {{"", "", policy.error().message}};
    std::vector<Unsupported> all;
    const LowerOptions options = lower_options(*policy, plan, *device, false);
    const std::vector<ValueUse> uses = value_uses(*policy, false);
    for (uint32_t n = 0; n < policy->nodes().size(); ++n) {
      const Result<Step> step = lower_node(*policy, n, uses, options);
      if (step.ok()) continue;
      const Node& node = policy->nodes()[n];
      all.push_back({node.name, node.op->type, step.error().message});
    }
    return all;
  }

  Result<std::unique_ptr<Program>> compile(const Graph& graph, const Plan& plan,
                                           const NamedTensors& weights, RandomKey seed) override {
    return guarded(graph.name(), [&]() -> Result<std::unique_ptr<Program>> {
      ASSAY_ASSIGN(const at::Device device, open_device(plan.device));
      ASSAY_ASSIGN(NamedTensors values, initial_tensors(graph, weights, seed));
      const bool last = lower_options(graph, plan, device, false).channels_last;
      ASSAY_ASSIGN(auto store, make_store(std::move(values), device, last));
      return make_program(graph, plan, std::move(store), /*frozen=*/true, seed);
    });
  }

  Result<std::unique_ptr<Trainer>> trainer(const Graph& graph, const OptimizerConfig& optimizer,
                                           const Plan& plan, RandomKey seed,
                                           ProcessGroup* group) override {
    if (group != nullptr) {
      return Error{ErrorCode::kUnsupported, "the torch engine trains one replica", graph.name()};
    }
    return guarded(graph.name(), [&]() -> Result<std::unique_ptr<Trainer>> {
      return make_trainer(graph, optimizer, plan, seed);
    });
  }

 private:
  static Result<std::unique_ptr<Trainer>> make_trainer(const Graph& graph,
                                                       const OptimizerConfig& optimizer,
                                                       const Plan& plan, RandomKey seed) {
    ASSAY_ASSIGN(const at::Device device, open_device(plan.device));
    configure(plan);
    ASSAY_ASSIGN(Graph policy, with_precision(graph, plan));
    const LowerOptions options = lower_options(policy, plan, device, /*training=*/true);
    ASSAY_ASSIGN(NamedTensors values, initial_tensors(graph, {}, seed));
    ASSAY_ASSIGN(auto store, make_store(std::move(values), device, options.channels_last));
    for (const Parameter& parameter : graph.parameters()) {
      const Value& value = graph.value(parameter.value);
      if (!parameter.trainable) continue;
      if (value.type.dtype != DType::kF32) {
        return Error{ErrorCode::kUnsupported, "the torch engine trains f32 parameters", value.name};
      }
      store->tensors.at(value.name).set_requires_grad(true);
    }
    ASSAY_ASSIGN(auto executable, Executable::build(std::move(policy), options, store));
    Plan resolved = plan;
    resolved.threads = use_threads(plan.threads);
    return std::unique_ptr<Trainer>(std::make_unique<TorchTrainer>(
        std::move(executable), std::move(store), optimizer, resolved));
  }
};

}  // namespace

std::unique_ptr<Engine> make_torch_engine() {
  keep_freed_memory();
  return std::make_unique<TorchEngine>();
}

Result<std::unique_ptr<Program>> make_program(const Graph& graph, const Plan& plan,
                                              std::shared_ptr<WeightStore> store, bool frozen,
                                              RandomKey seed) {
  return guarded(graph.name(), [&]() -> Result<std::unique_ptr<Program>> {
    ASSAY_ASSIGN(const at::Device device, open_device(plan.device));
    configure(plan);
    ASSAY_ASSIGN(Graph policy, with_precision(graph, plan));
    LowerOptions options = lower_options(policy, plan, device, /*training=*/false);
    options.frozen = frozen;
    ASSAY_ASSIGN(auto executable, Executable::build(std::move(policy), options, std::move(store)));
    Plan resolved = plan;
    resolved.threads = use_threads(plan.threads);
    return std::unique_ptr<Program>(
        std::make_unique<TorchProgram>(std::move(executable), resolved, seed));
  });
}

}  // namespace assay::torch_engine

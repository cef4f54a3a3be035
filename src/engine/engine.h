// SPDX-License-Identifier: Apache-2.0
//
// Engine, Program, Trainer: what a framework is to Assay. No framework type appears here. An engine
// lives in a worker process, is used from one thread, and reports failures as Result, never by
// throwing across the border. Interfaces have at most six virtuals; optional abilities are
// separate.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/random.h"
#include "base/units.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "graph/tensor.h"
#include "workload/optimizer.h"

namespace assay {

class ProcessGroup;  // comm/: collectives between replicas; null for one replica

// How to execute a graph.
struct Plan {
  Device device;
  Precision precision = Precision::kF32;
  int threads = 0;             // 0: every core this process may use
  int optimization_level = 2;  // 0 none ... 3 all, as far as the engine knows levels
  bool deterministic = true;   // same seed, same thread count: same bits
};

// A node that an engine cannot run, and why.
struct Unsupported {
  std::string node;
  std::string op_type;
  std::string reason;
};

// Bytes by purpose, as the engine knows them; nullopt where it does not.
struct MemoryUse {
  std::optional<Bytes> parameters;
  std::optional<Bytes> gradients;
  std::optional<Bytes> optimizer;
  std::optional<Bytes> activations;
  std::optional<Bytes> workspace;
};

// Tensors by name: parameters, states, and in a trainer "optimizer.*" entries.
using NamedTensors = std::map<std::string, Tensor>;

// Compiled inference over a family of bindings (batch sizes, length buckets) that share one
// parameter set. Inputs and outputs are in the graph's order. `outputs` are the caller's host
// buffers of the right type and shape.
class Program {
 public:
  using Ticket = uint64_t;
  virtual ~Program() = default;
  // Starts a run; the views must stay valid until wait() returns. Engines that cannot overlap
  // finish here and make wait() free.
  virtual Result<Ticket> enqueue(std::span<const TensorView> inputs,
                                 std::span<const TensorView> outputs) = 0;
  virtual Result<void> wait(Ticket ticket) = 0;
  // What the engine really did: {"precision": ..., "layout": ..., "nodes": [...]}, engine's own
  // words.
  virtual Json as_compiled() const = 0;
  virtual MemoryUse memory() const = 0;

  Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
    ASSAY_ASSIGN(const Ticket ticket, enqueue(inputs, outputs));
    return wait(ticket);
  }
};

// Called by a trainer inside accumulate() as soon as a parameter's gradient of this batch is
// complete (in reverse topological order). The view is of the accumulated gradient, in device
// memory, valid during the call; what is written to it is what apply() uses.
using GradientCallback =
    std::function<void(const std::string& parameter, const TensorView& gradient)>;

// Training of one graph whose output 0 is the scalar loss.
class Trainer {
 public:
  virtual ~Trainer() = default;
  // Forward and backward for one (micro-)batch: adds `weight` times the gradient of the loss, moves
  // the states on. `key` feeds the graph's random keys.
  virtual Result<void> accumulate(std::span<const TensorView> inputs, RandomKey key,
                                  float weight) = 0;
  // Clips if configured, one optimiser step at this rate, clears the gradients.
  virtual Result<void> apply(double rate) = 0;
  // The loss of the last accumulate(); waits for it.
  virtual Result<double> loss() = 0;
  // Parameters, states and optimiser state by name, copied to the host; and back.
  virtual Result<NamedTensors> state() = 0;
  virtual Result<void> set_state(const NamedTensors& state) = 0;
  // A live view of the parameters and states for evaluation: later steps are seen by it. Parameters
  // and states are matched by name. The trainer must outlive it.
  virtual Result<std::unique_ptr<Program>> program(const Graph& inference) = 0;
};

// Optional abilities of a trainer, found with dynamic_cast.
class GradientHooks {
 public:
  virtual ~GradientHooks() = default;
  virtual void on_gradient(GradientCallback callback) = 0;
};
class MemoryReport {
 public:
  virtual ~MemoryReport() = default;
  virtual MemoryUse memory() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;     // "torch"
  virtual std::string version() const = 0;  // the framework's: "2.15.0"
  virtual std::vector<Device> devices() const = 0;
  // Empty when the whole graph can run under the plan.
  virtual std::vector<Unsupported> unsupported(const Graph& graph, const Plan& plan) const = 0;
  // `weights` gives parameters and states by name; those absent are materialised from `seed`.
  virtual Result<std::unique_ptr<Program>> compile(const Graph& graph, const Plan& plan,
                                                   const NamedTensors& weights, RandomKey seed) = 0;
  virtual Result<std::unique_ptr<Trainer>> trainer(const Graph& graph,
                                                   const OptimizerConfig& optimizer,
                                                   const Plan& plan, RandomKey seed,
                                                   ProcessGroup* group) = 0;
};

}  // namespace assay

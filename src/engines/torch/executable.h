// SPDX-License-Identifier: Apache-2.0
//
// Executable: a graph bound to libtorch calls. Built once: layout chosen, attributes decoded, one
// register a value, each freed after its last reader. A run costs one indirect call a step beside
// libtorch's own work. Steps that read only weights run when weights change. Used from one thread.
// Member functions may throw what libtorch throws; callers are Program and Trainer, which guard.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engines/torch/lowering.h"
#include "engines/torch/weight_store.h"
#include "graph/graph.h"

namespace assay::torch_engine {

class Executable {
 public:
  // `graph` has its precision policy applied already. Every parameter and state is found in `store`
  // by name, or the error names it.
  static Result<std::unique_ptr<Executable>> build(Graph graph, const LowerOptions& options,
                                                   std::shared_ptr<WeightStore> store);
  // Folds and casts weights if they have changed; run() does it by itself.
  Result<void> prepare();
  // Binds the inputs, runs every step, moves the states on. Outputs stay until release(). A random
  // key of the graph gets key.derive(its name), and of that derive(run) if given.
  Result<void> run(std::span<const TensorView> inputs, RandomKey key,
                   std::optional<uint64_t> run = std::nullopt);
  const at::Tensor& output(size_t index) const { return registers_[graph_.outputs()[index]]; }
  void release();

  const Graph& graph() const { return graph_; }
  const LowerOptions& options() const { return options_; }
  WeightStore& store() { return *store_; }
  const WeightStore& store() const { return *store_; }
  Json nodes_json() const;  // one entry a step: nodes, kernel, note

 private:
  Executable(Graph graph, const LowerOptions& options, std::shared_ptr<WeightStore> store)
      : graph_(std::move(graph)), options_(options), store_(std::move(store)) {}
  Result<void> bind_persistent();
  void plan_frees();
  Result<void> bind_inputs(std::span<const TensorView> inputs);
  void bind_keys(RandomKey key, std::optional<uint64_t> run);
  std::vector<std::vector<ValueId>> originals_done_with() const;
  void move_states();
  void forget_computed();

  Graph graph_;
  LowerOptions options_;
  std::shared_ptr<WeightStore> store_;
  std::vector<at::Tensor> registers_;
  std::vector<Step> once_;
  std::vector<Step> steps_;
  std::vector<ValueId> leftovers_;  // registers still held after the last step
  uint64_t prepared_version_ = 0;
};

}  // namespace assay::torch_engine

// SPDX-License-Identifier: Apache-2.0
//
// Evaluation: a program's quality over all evaluation items, each once, the smaller last batch
// included. Batches are made ahead on another thread; buffers are kept between runs. Not
// thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "quality/evaluator.h"
#include "workload/task.h"

namespace assay {

struct EvaluationResult {
  double quality = 0;
  int64_t items = 0;
  double duration_s = 0;
  double engine_s = 0;  // the part of it inside the program
};

class Evaluation {
 public:
  // `task` and `clock` outlive it.
  static Result<Evaluation> make(const Task& task, int64_t batch, const Clock& clock);
  // kCancelled when `cancel` becomes true between batches.
  Result<EvaluationResult> run(Program& program, const std::atomic<bool>* cancel = nullptr);

 private:
  Evaluation(const Task& task, std::unique_ptr<BatchSource> source, const Clock& clock);
  Result<std::vector<Tensor>*> outputs_for(int64_t items);
  Result<void> run_batch(Program& program);

  const Task* task_;
  const Clock* clock_;
  std::unique_ptr<BatchSource> source_;
  std::unique_ptr<Evaluator> evaluator_;
  Batch batch_;
  std::vector<TensorView> input_views_;
  std::vector<TensorView> output_views_;
  std::map<int64_t, std::vector<Tensor>> outputs_;  // by items of a batch: two sizes at most
  Nanoseconds engine_time_{0};
};

// Makes `view` one of `tensor`, without allocating when type and shape are what they were.
void point_at(TensorView& view, Tensor& tensor);

// Once, with buffers of its own.
Result<EvaluationResult> evaluate(Program& program, const Task& task, int64_t batch,
                                  const Clock& clock, const std::atomic<bool>* cancel = nullptr);

}  // namespace assay

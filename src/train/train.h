// SPDX-License-Identifier: Apache-2.0
//
// train(): the training loop: batches, steps at the scheduled rate, evaluations, the target.
//
// The clock is MLPerf's (training rules, section 3.1): it starts before the first training data are
// touched, includes every evaluation, and stops when the target quality has been seen. Making the
// task and the trainer, and compiling the evaluation program, come before and are the caller's to
// report. docs/method/time-to-target.md derives every number.
//
// Cost of the loop itself: three clock reads and a few stores a step, below 2 us with the null
// engine; nothing is allocated after the first step. Called from one thread; the batches are made
// on another.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "engine/engine.h"
#include "workload/task.h"
#include "workload/workload.h"

namespace assay {

struct EvaluationPoint {
  int64_t step = 0;       // steps done before it
  double epoch = 0;       // the same in epochs
  double quality = 0;     // of the workload's metric
  double seconds = 0;     // on the training clock, when it was known
  double duration_s = 0;  // of this evaluation
  double loss = 0;        // of the last training step before it
};

struct TrainStart {
  int64_t total_steps = 0;  // the schedule's, or the limit of a throughput run
  int64_t steps_per_epoch = 0;
  int64_t first_step = 0;  // not 0 when resumed
};

// Told what happens, in the loop's thread; it delays the loop, so it must be quick.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_start(const TrainStart& /*start*/) {}  // the clock has just started
  virtual void on_step(int64_t /*step*/, double /*loss*/) {}
  virtual void on_evaluation_start(int64_t /*step*/, double /*epoch*/) {}
  virtual void on_evaluation(const EvaluationPoint& /*point*/) {}
  virtual void on_stop(bool /*reached*/) {}  // not called when train() fails
};

struct TrainOptions {
  Recipe recipe;
  RandomKey seed{0};
  // So many steps, no evaluation and no target: a measurement of speed.
  std::optional<int64_t> max_steps;
  // Continue after so many steps; the trainer's state has been set to what it was then.
  int64_t first_step = 0;
  // The batch of an optimiser step is accumulated from so many equal parts.
  int64_t micro_batches = 1;
  int prefetch_depth = 3;
  const std::atomic<bool>* cancel = nullptr;  // looked at before every step and evaluation
  TrainObserver* observer = nullptr;
};

struct TrainOutcome {
  bool reached = false;  // the target; never in a throughput run
  double quality = 0;    // of the last evaluation
  double best_quality = 0;
  // From the start of the clock to the end of the evaluation that reached the target. Nothing when
  // it was not reached, or when the run was resumed: the clock has not seen all of it.
  std::optional<double> time_to_target_s;
  double final_loss = 0;
  int64_t steps = 0;  // done by this call
  int64_t items = 0;  // counted from the batches
  double epochs = 0;  // since step 0
  std::vector<EvaluationPoint> evaluations;

  // One a step, in order. A step time goes from asking for the batch to having its loss.
  std::vector<double> step_time_ns;
  std::vector<double> wait_time_ns;  // the part of it spent waiting for the batch
  std::vector<double> loss;

  // Where the clock's time went: total = engine + wait + evaluation + overhead.
  double total_s = 0;
  double engine_s = 0;
  double wait_s = 0;
  double evaluation_s = 0;
  double overhead_s = 0;        // the loop itself, observers included
  double throughput_per_s = 0;  // items over the sum of step times
  double overhead_share() const { return total_s > 0 ? overhead_s / total_s : 0; }
};

// `evaluation` is the trainer's live program for task.inference_graph(); it may be null in a
// throughput run only. kDiverged at the first loss that is NaN or infinite, kCancelled when told.
Result<TrainOutcome> train(Trainer& trainer, Program* evaluation, const Task& task,
                           const TrainOptions& options, const Clock& clock);

// Step counts of a recipe, as train() uses them: whole batches of an epoch, and all steps.
int64_t steps_per_epoch(const Task& task, int64_t batch);
int64_t total_steps(const Task& task, const Recipe& recipe);

}  // namespace assay

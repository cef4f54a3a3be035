// SPDX-License-Identifier: Apache-2.0
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "data/prefetch.h"
#include "train/evaluate.h"

namespace assay {
namespace {

TrainObserver& silent_observer() {
  static TrainObserver observer;
  return observer;
}

// One run: the state that the steps and evaluations share.
class Loop {
 public:
  Loop(Trainer& trainer, Program* program, const Task& task, const TrainOptions& options,
       const Clock& clock)
      : trainer_(trainer),
        program_(program),
        task_(task),
        options_(options),
        clock_(clock),
        observer_(options.observer != nullptr ? *options.observer : silent_observer()),
        step_key_(options.seed.derive("step")) {}

  Result<TrainOutcome> run() {
    ASSAY_TRY(prepare());
    start_ = clock_.now();
    observer_.on_start({last_step_, steps_per_epoch_, options_.first_step});
    int64_t step = options_.first_step;
    int64_t next_evaluation = evaluation_after(step);
    while (step < last_step_ && !outcome_.reached) {
      if (cancelled()) return Error{ErrorCode::kCancelled, "training cancelled"};
      ASSAY_TRY(train_step(step));
      ++step;
      if (step < next_evaluation) continue;
      ASSAY_TRY(evaluate_after(step));
      next_evaluation = evaluation_after(step);
    }
    finish(step);
    return std::move(outcome_);
  }

 private:
  Result<void> prepare() {
    const Recipe& recipe = options_.recipe;
    steps_per_epoch_ = steps_per_epoch(task_, recipe.batch);
    schedule_steps_ = total_steps(task_, recipe);
    last_step_ = options_.max_steps ? options_.first_step + *options_.max_steps : schedule_steps_;
    ASSAY_TRY(check());
    const int64_t part = recipe.batch / options_.micro_batches;
    ASSAY_ASSIGN(std::unique_ptr<BatchSource> batches,
                 task_.training_batches(part, options_.seed.derive("data")));
    source_ =
        std::make_unique<PrefetchedSource>(std::move(batches), options_.prefetch_depth, clock_);
    if (options_.first_step > 0) {
      ASSAY_TRY(source_->skip_to(options_.first_step * options_.micro_batches));
    }
    if (!options_.max_steps) {
      ASSAY_ASSIGN(Evaluation evaluation, Evaluation::make(task_, recipe.evaluation_batch, clock_));
      evaluation_.emplace(std::move(evaluation));
    }
    const auto expected =
        static_cast<size_t>(std::max<int64_t>(0, last_step_ - options_.first_step));
    outcome_.step_time_ns.reserve(expected);
    outcome_.wait_time_ns.reserve(expected);
    outcome_.loss.reserve(expected);
    views_.resize(task_.training_graph().inputs().size());
    return {};
  }

  Result<void> check() const {
    const Recipe& recipe = options_.recipe;
    const auto invalid = [](std::string message) {
      return Error{ErrorCode::kInvalid, std::move(message)};
    };
    if (steps_per_epoch_ < 1) {
      return invalid("a batch of " + std::to_string(recipe.batch) + " is more than the " +
                     std::to_string(task_.training_items()) + " training items");
    }
    if (options_.micro_batches < 1 || recipe.batch % options_.micro_batches != 0) {
      return invalid("a batch of " + std::to_string(recipe.batch) + " cannot be accumulated from " +
                     std::to_string(options_.micro_batches) + " equal parts");
    }
    if (options_.max_steps && *options_.max_steps < 1) return invalid("no steps to train");
    if (!options_.max_steps && program_ == nullptr) {
      return invalid("training to a target needs an evaluation program");
    }
    if (options_.first_step < 0 || options_.first_step >= last_step_) {
      return invalid("cannot continue after step " + std::to_string(options_.first_step) + " of " +
                     std::to_string(last_step_));
    }
    return {};
  }

  bool cancelled() const {
    return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  }

  // The number of steps after which the next evaluation is due: whole multiples of an epoch's
  // fraction, and the end.
  int64_t evaluation_after(int64_t step) const {
    if (options_.max_steps) return std::numeric_limits<int64_t>::max();
    const double interval =
        static_cast<double>(steps_per_epoch_) / options_.recipe.evaluations_per_epoch;
    auto k = static_cast<int64_t>(static_cast<double>(step) / interval);
    int64_t due = step;
    while (due <= step) due = std::llround(static_cast<double>(++k) * interval);
    return std::min(due, last_step_);
  }

  Result<void> train_step(int64_t step) {
    const Nanoseconds begin = clock_.now();
    Nanoseconds wait{0};
    Nanoseconds engine{0};
    Nanoseconds mark = begin;
    const auto weight = 1.0F / static_cast<float>(options_.micro_batches);
    double loss = 0;
    for (int64_t part = 0; part < options_.micro_batches; ++part) {
      ASSAY_TRY(next_batch());
      const Nanoseconds ready = clock_.now();
      wait += ready - mark;
      const auto draw = static_cast<uint64_t>(step * options_.micro_batches + part);
      ASSAY_TRY(trainer_.accumulate(views_, step_key_.derive(draw), weight));
      if (part + 1 == options_.micro_batches) {
        ASSAY_TRY(trainer_.apply(options_.recipe.schedule.at(step, schedule_steps_)));
      }
      ASSAY_ASSIGN(const double part_loss, trainer_.loss());
      loss += part_loss * static_cast<double>(weight);
      mark = clock_.now();
      engine += mark - ready;
    }
    wait_ += wait;
    engine_ += engine;
    outcome_.items += items_;
    items_ = 0;
    outcome_.step_time_ns.push_back(static_cast<double>((mark - begin).count()));
    outcome_.wait_time_ns.push_back(static_cast<double>(wait.count()));
    outcome_.loss.push_back(loss);
    step_time_ += mark - begin;
    if (!std::isfinite(loss)) return diverged(step, loss);
    observer_.on_step(step, loss);
    return {};
  }

  Result<void> next_batch() {
    ASSAY_ASSIGN(const bool more, source_->next(batch_));
    if (!more || batch_.inputs.size() < views_.size()) {
      return Error{ErrorCode::kInternal, "training batches ended or lack inputs",
                   task_.training_graph().name()};
    }
    for (size_t i = 0; i < views_.size(); ++i) point_at(views_[i], batch_.inputs[i]);
    items_ += batch_.items;
    return {};
  }

  Error diverged(int64_t step, double loss) const {
    return Error{ErrorCode::kDiverged,
                 "diverged: the loss of step " + std::to_string(step) + " is " +
                     (std::isnan(loss) ? "NaN" : "infinite"),
                 "", "lower optimizer.rate, or lengthen schedule.warmup_fraction"};
  }

  double epochs_after(int64_t step) const {
    return static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
  }

  Result<void> evaluate_after(int64_t step) {
    const Nanoseconds begin = clock_.now();
    observer_.on_evaluation_start(step, epochs_after(step));
    ASSAY_ASSIGN(const EvaluationResult result, evaluation_->run(*program_, options_.cancel));
    const Nanoseconds end = clock_.now();
    evaluation_time_ += end - begin;
    EvaluationPoint point;
    point.step = step;
    point.epoch = epochs_after(step);
    point.quality = result.quality;
    point.seconds = Seconds(end - start_).count();
    point.duration_s = Seconds(end - begin).count();
    point.loss = outcome_.loss.back();
    outcome_.quality = result.quality;
    outcome_.best_quality = outcome_.evaluations.empty()
                                ? result.quality
                                : std::max(outcome_.best_quality, result.quality);
    outcome_.evaluations.push_back(point);
    if (result.quality >= options_.recipe.target) {
      outcome_.reached = true;
      if (options_.first_step == 0) outcome_.time_to_target_s = point.seconds;
    }
    observer_.on_evaluation(point);
    return {};
  }

  void finish(int64_t step) {
    const Nanoseconds end = clock_.now();
    observer_.on_stop(outcome_.reached);
    outcome_.steps = step - options_.first_step;
    outcome_.epochs = epochs_after(step);
    outcome_.final_loss = outcome_.loss.back();
    outcome_.total_s = Seconds(end - start_).count();
    outcome_.engine_s = Seconds(engine_).count();
    outcome_.wait_s = Seconds(wait_).count();
    outcome_.evaluation_s = Seconds(evaluation_time_).count();
    outcome_.overhead_s =
        outcome_.total_s - outcome_.engine_s - outcome_.wait_s - outcome_.evaluation_s;
    const double stepping = Seconds(step_time_).count();
    outcome_.throughput_per_s = stepping > 0 ? static_cast<double>(outcome_.items) / stepping : 0;
  }

  Trainer& trainer_;
  Program* program_;
  const Task& task_;
  const TrainOptions& options_;
  const Clock& clock_;
  TrainObserver& observer_;
  RandomKey step_key_;

  int64_t steps_per_epoch_ = 0;
  int64_t schedule_steps_ = 0;  // what the schedule is stretched over
  int64_t last_step_ = 0;
  std::unique_ptr<BatchSource> source_;
  std::optional<Evaluation> evaluation_;
  Batch batch_;
  std::vector<TensorView> views_;
  int64_t items_ = 0;  // of the step under way

  Nanoseconds start_{0};
  Nanoseconds engine_{0};
  Nanoseconds wait_{0};
  Nanoseconds evaluation_time_{0};
  Nanoseconds step_time_{0};
  TrainOutcome outcome_;
};

}  // namespace

int64_t steps_per_epoch(const Task& task, int64_t batch) {
  return batch > 0 ? task.training_items() / batch : 0;
}

int64_t total_steps(const Task& task, const Recipe& recipe) {
  const auto steps = static_cast<double>(steps_per_epoch(task, recipe.batch));
  return std::max<int64_t>(1, std::llround(steps * recipe.epochs));
}

Result<TrainOutcome> train(Trainer& trainer, Program* evaluation, const Task& task,
                           const TrainOptions& options, const Clock& clock) {
  return Loop(trainer, evaluation, task, options, clock).run();
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "machine/environment.h"
#include "machine/platform.h"
#include "measure/contention.h"
#include "measure/drift.h"
#include "measure/interval.h"
#include "measure/statistics.h"
#include "measure/summary.h"
#include "mlperf/training_log.h"
#include "study/activity.h"
#include "study/checkpoints.h"
#include "study/resources.h"
#include "study/subject.h"
#include "train/checkpoint.h"
#include "train/train.h"

namespace assay {
namespace {

constexpr double kProgressInterval_s = 0.5;

// Tells the supervisor how far training is, the log what happened, and keeps the losses of a run
// that fails.
class Watch final : public TrainObserver {
 public:
  Watch(const ActivityContext& context, const WorkloadSubject& subject, TrainingLog* log)
      : context_(context), subject_(subject), log_(log), last_(context.clock.now()) {}

  void on_start(const TrainStart& start) override {
    start_ = start;
    started_ = context_.clock.now();
    losses_.reserve(static_cast<size_t>(start.total_steps));
    if (log_ != nullptr) log_->on_start(start);
  }
  void on_step(int64_t step, double loss) override {
    losses_.push_back(loss);
    const Nanoseconds now = context_.clock.now();
    if (Seconds(now - last_).count() < kProgressInterval_s) return;
    last_ = now;
    report(step + 1, now);
  }
  void on_evaluation_start(int64_t step, double epoch) override {
    if (log_ != nullptr) log_->on_evaluation_start(step, epoch);
  }
  void on_evaluation(const EvaluationPoint& point) override {
    quality_ = point.quality;
    if (log_ != nullptr) log_->on_evaluation(point);
  }
  void on_stop(bool reached) override {
    stopped_ = true;
    if (log_ != nullptr) log_->on_stop(reached);
  }

  bool stopped() const { return stopped_; }
  const std::vector<double>& losses() const { return losses_; }

 private:
  void report(int64_t steps, Nanoseconds now) {
    Progress progress;
    const double epoch =
        start_.steps_per_epoch > 0
            ? static_cast<double>(steps) / static_cast<double>(start_.steps_per_epoch)
            : 0;
    progress.text = fmt::format("epoch {:.2f}, loss {:.3f}", epoch, losses_.back());
    if (quality_)
      progress.text += fmt::format(", {} {:.4f}", subject_.chosen.workload.metric, *quality_);
    if (start_.total_steps > 0)
      progress.fraction =
          std::min(1.0, static_cast<double>(steps) / static_cast<double>(start_.total_steps));
    const int64_t batch = subject_.chosen.variant.recipe.batch;
    progress.rate = static_cast<double>((steps - start_.first_step) * batch) /
                    std::max(1e-9, Seconds(now - started_).count());
    progress.item = subject_.chosen.workload.item;
    context_.progress(progress);
  }

  const ActivityContext& context_;
  const WorkloadSubject& subject_;
  TrainingLog* log_;
  TrainStart start_;
  Nanoseconds started_{0};
  Nanoseconds last_;
  std::vector<double> losses_;
  std::optional<double> quality_;
  bool stopped_ = false;
};

void add_speed(Record& record, const TrainOutcome& outcome) {
  const std::vector<double>& times = outcome.step_time_ns;
  record.add("steps", static_cast<double>(outcome.steps));
  record.add("time_s", outcome.total_s);
  record.add("epochs", outcome.epochs);
  if (times.empty()) {
    record.missing["throughput_per_s"] = "no step was taken";
    record.missing["step_mean_ns"] = "no step was taken";
    return;
  }
  const double step_mean = mean(times);
  const Result<Interval> interval = series_interval(times);
  add_with_interval(record, "step_mean_ns", step_mean, interval);
  // The rate is items over time, so its interval is the reciprocal one.
  add_with_interval(record, "throughput_per_s", outcome.throughput_per_s,
                    reciprocal(interval, outcome.throughput_per_s * step_mean));
  if (outcome.total_s > 0) {
    record.add("wait_share", outcome.wait_s / outcome.total_s);
    record.add("overhead_share", outcome.overhead_share());
  }
  record.add("evaluation_s", outcome.evaluation_s);
  if (const auto mark = drift_mark(times)) record.marks.push_back(*mark);
  if (const auto mark = outlier_mark(times)) record.marks.push_back(*mark);
}

void add_quality(Record& record, const TrainOutcome& outcome, const Recipe& recipe,
                 bool throughput_only) {
  if (!outcome.loss.empty()) record.add("final_loss", outcome.final_loss);
  if (throughput_only) {
    for (const char* field : {"time_to_target_s", "quality", "target", "reached"})
      record.missing[field] = "throughput only: a number of steps was asked for";
    return;
  }
  record.add("quality", outcome.quality);
  record.add("best_quality", outcome.best_quality);
  record.add("target", recipe.target);
  record.facts["reached"] = outcome.reached ? "true" : "false";
  if (outcome.time_to_target_s) {
    record.add("time_to_target_s", *outcome.time_to_target_s);
  } else {
    record.missing["time_to_target_s"] =
        fmt::format("the target was not reached in {:.2f} epochs", outcome.epochs);
    record.status = Status::kShortOfTarget;
    record.reason = fmt::format("quality {:.4f} is below the target {:.4f} after {:.2f} epochs",
                                outcome.best_quality, recipe.target, outcome.epochs);
  }
}

void add_samples(Record& record, TrainOutcome outcome) {
  record.samples.push_back({"step_time_ns", std::move(outcome.step_time_ns)});
  record.samples.push_back({"wait_time_ns", std::move(outcome.wait_time_ns)});
  record.samples.push_back({"loss", std::move(outcome.loss)});
  if (outcome.evaluations.empty()) return;
  Samples epochs{"eval_epoch", {}};
  Samples seconds{"eval_time_s", {}};
  Samples quality{"eval_quality", {}};
  for (const EvaluationPoint& point : outcome.evaluations) {
    epochs.values.push_back(point.epoch);
    seconds.values.push_back(point.seconds);
    quality.values.push_back(point.quality);
  }
  for (Samples* series : {&epochs, &seconds, &quality})
    record.samples.push_back(std::move(*series));
}

// What is known before the first step and true whatever happens then.
Record opening(const Case& wanted, const WorkloadSubject& subject, const Plan& plan) {
  Record record;
  record.digest = subject.digest;
  record.status = Status::kMeasured;
  record.facts["workload"] = subject.chosen.workload.name;
  record.facts["item"] = subject.chosen.workload.item;
  record.facts["metric"] = subject.chosen.workload.metric;
  record.facts["precision_used"] = wanted.get("precision");
  record.add("batch", static_cast<double>(subject.chosen.variant.recipe.batch));
  record.add("threads", plan.threads);
  return record;
}

// The trained weights, for inference; a failure to write them is a remark, not a failed training.
void keep_weights(Record& record, Trainer& trainer, const WorkloadSubject& subject,
                  const ActivityContext& context, const TrainOutcome& outcome) {
  const Case& wanted = context.request.requested;
  if (context.request.checkpoint_folder.empty()) return;
  Result<NamedTensors> state = trainer.state();
  if (!state.ok()) {
    record.marks.push_back("no checkpoint: " + state.error().text());
    return;
  }
  Checkpoint checkpoint{.workload = subject.chosen.workload.name,
                        .variant = subject.chosen.variant.name,
                        .precision = wanted.get("precision"),
                        .seed = wanted.unsigned_integer("seed"),
                        .digest = subject.digest,
                        .step = outcome.steps,
                        .quality = outcome.quality,
                        .code_version = "",
                        .tensors = std::move(*state)};
  const std::filesystem::path file =
      checkpoint_path(checkpoint_folder_of(context.request, subject.digest), checkpoint.workload,
                      checkpoint.variant, checkpoint.precision, checkpoint.seed);
  const Result<void> written = write_checkpoint(file, checkpoint);
  if (written.ok())
    record.facts["checkpoint"] = file.string();
  else
    record.marks.push_back("no checkpoint: " + written.error().text());
}

// Where a failed run stood: its losses are evidence.
Record failed(Record record, const Error& error, const Watch& watch) {
  record.status = Status::kFailed;
  record.reason = error.text();
  if (error.code == ErrorCode::kDiverged && !record.reason.starts_with("diverged"))
    record.reason = "diverged: " + record.reason;
  record.add("steps", static_cast<double>(watch.losses().size()));
  record.samples.push_back({"loss", watch.losses()});
  return record;
}

void add_contention(Record& record, const Contention& contention) {
  record.add("cpus_used", contention.cpus_used);
  record.marks.insert(record.marks.end(), contention.marks.begin(), contention.marks.end());
  for (const auto& [name, reason] : contention.missing) record.missing[name] = reason;
}

struct Prepared {
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Program> evaluation;
};

Result<Prepared> prepare(const ActivityContext& context, const WorkloadSubject& subject,
                         const Plan& plan) {
  const Case& wanted = context.request.requested;
  ASSAY_ASSIGN(const EngineHandle engine, context.engines.get(wanted.get("engine")));
  ASSAY_TRY(check_supported(*engine, subject.task->training_graph(), plan));
  ASSAY_TRY(check_supported(*engine, subject.task->inference_graph(), plan));
  Prepared prepared;
  ASSAY_ASSIGN(
      prepared.trainer,
      engine->trainer(subject.task->training_graph(), subject.chosen.variant.recipe.optimizer, plan,
                      RandomKey(wanted.unsigned_integer("seed")), nullptr));
  ASSAY_ASSIGN(prepared.evaluation, prepared.trainer->program(subject.task->inference_graph()));
  return prepared;
}

TrainOptions train_options(const ActivityContext& context, const WorkloadSubject& subject) {
  const Case& wanted = context.request.requested;
  TrainOptions options;
  options.recipe = subject.chosen.variant.recipe;
  options.seed = RandomKey(wanted.unsigned_integer("seed"));
  if (wanted.integer("steps") > 0) options.max_steps = wanted.integer("steps");
  options.cancel = &context.cancelled;
  return options;
}

Result<std::optional<TrainingLog>> open_log(const ActivityContext& context) {
  if (context.request.mllog.empty()) return std::optional<TrainingLog>();
  ASSAY_ASSIGN(const ChosenWorkload chosen, choose_workload(context.request.requested));
  ASSAY_ASSIGN(TrainingLog log,
               TrainingLog::start(chosen.workload, chosen.variant, context.request.organisation,
                                  platform_text(collect_environment()), context.clock));
  return std::optional<TrainingLog>(std::move(log));
}

// The log of a run that ended in whatever way; one that cannot be written is the user's affair.
Result<void> write_log(const ActivityContext& context, std::optional<TrainingLog>& log,
                       const Watch& watch) {
  if (!log) return {};
  if (!watch.stopped()) log->aborted();
  return write_file(context.request.mllog, log->text());
}

}  // namespace

Result<Record> train_activity(const ActivityContext& context) {
  const Case& wanted = context.request.requested;
  if (wanted.get("workload").empty())
    return Error{ErrorCode::kInvalid, "only a workload can be trained", "case"};
  ASSAY_ASSIGN(std::optional<TrainingLog> log, open_log(context));
  ASSAY_ASSIGN(const WorkloadSubject subject, open_subject(wanted));
  context.digest(subject.digest);
  ASSAY_ASSIGN(const Plan plan, plan_of(wanted));
  ASSAY_ASSIGN(const Prepared prepared, prepare(context, subject, plan));
  if (log) log->initialised(*subject.task, wanted.unsigned_integer("seed"));
  Record record = opening(wanted, subject, plan);

  Watch watch(context, subject, log ? &*log : nullptr);
  TrainOptions options = train_options(context, subject);
  options.observer = &watch;
  const ContentionProbe probe(context.clock);
  const ContentionReading before = probe.read();
  ResourceWatch resources(context.clock, plan.device);
  Result<TrainOutcome> outcome =
      train(*prepared.trainer, prepared.evaluation.get(), *subject.task, options, context.clock);
  resources.finish(record);
  add_contention(record, contention_between(before, probe.read(),
                                            plan.device.kind == DeviceKind::kCpu ? 1 : 0));
  ASSAY_TRY(write_log(context, log, watch));
  if (!outcome.ok()) {
    if (outcome.error().code == ErrorCode::kCancelled) return outcome.error();
    return failed(std::move(record), outcome.error(), watch);
  }
  add_speed(record, *outcome);
  add_quality(record, *outcome, subject.chosen.variant.recipe, options.max_steps.has_value());
  if (!options.max_steps) keep_weights(record, *prepared.trainer, subject, context, *outcome);
  add_samples(record, std::move(*outcome));
  return record;
}

}  // namespace assay

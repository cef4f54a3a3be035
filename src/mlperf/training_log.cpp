// SPDX-License-Identifier: Apache-2.0
#include "mlperf/training_log.h"

#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "mlperf/log_text.h"

namespace assay {
namespace {

constexpr std::string_view kPoint = "POINT_IN_TIME";
constexpr std::string_view kBegin = "INTERVAL_START";
constexpr std::string_view kEnd = "INTERVAL_END";

}  // namespace

std::optional<std::string> mlperf_benchmark(const Workload& workload) {
  if (workload.task == "image-classification") return "resnet";
  return std::nullopt;
}

TrainingLog::TrainingLog(WorkloadVariant variant, const Clock& clock)
    : variant_(std::move(variant)), clock_(&clock) {}

Result<TrainingLog> TrainingLog::start(const Workload& workload, const WorkloadVariant& variant,
                                       const std::string& organisation, const std::string& platform,
                                       const Clock& clock) {
  const auto benchmark = mlperf_benchmark(workload);
  if (!benchmark) {
    return Error{ErrorCode::kUnsupported,
                 "MLPerf's training rules have no benchmark for " + workload.name, "--mllog"};
  }
  if (organisation.empty() || platform.empty()) {
    return Error{ErrorCode::kInvalid, "MLPerf's log needs an organisation and a platform",
                 "--mllog"};
  }
  TrainingLog log(variant, clock);
  log.line(kPoint, "submission_benchmark", *benchmark, {});
  log.line(kPoint, "submission_org", organisation, {});
  log.line(kPoint, "submission_division", "open", {});
  log.line(kPoint, "submission_status", "research", {});
  log.line(kPoint, "submission_platform", platform, {});
  // We do not drop the page cache of somebody else's machine, and say so.
  log.line(kPoint, "cache_clear", false, {});
  log.line(kBegin, "init_start", nullptr, {});
  return log;
}

void TrainingLog::initialised(const Task& task, uint64_t seed) {
  const Recipe& recipe = variant_.recipe;
  const OptimizerConfig& optimizer = recipe.optimizer;
  const std::string kind(optimizer_name(optimizer.kind));
  const Json nothing;
  line(kPoint, "train_samples", task.items().training, nothing);
  line(kPoint, "eval_samples", task.items().evaluation, nothing);
  line(kPoint, "seed", seed, nothing);
  line(kPoint, "global_batch_size", recipe.batch, nothing);
  line(kPoint, "gradient_accumulation_steps", 1, nothing);
  line(kPoint, "opt_name", kind, nothing);
  line(kPoint, kind + "_opt_base_learning_rate", recipe.schedule.rate, nothing);
  line(kPoint, kind + "_opt_end_learning_rate", recipe.schedule.end_rate, nothing);
  line(kPoint, kind + "_opt_weight_decay", optimizer.weight_decay, nothing);
  if (optimizer.kind == OptimizerKind::kSgd) {
    line(kPoint, "sgd_opt_momentum", optimizer.momentum, nothing);
  } else {
    line(kPoint, "opt_" + kind + "_beta_1", optimizer.beta1, nothing);
    line(kPoint, "opt_" + kind + "_beta_2", optimizer.beta2, nothing);
    line(kPoint, "opt_" + kind + "_epsilon", optimizer.epsilon, nothing);
  }
  line(kPoint, "opt_learning_rate_warmup_epochs", recipe.schedule.warmup_fraction * recipe.epochs,
       nothing);
  line(kPoint, "assay_model", variant_.model, nothing);
  line(kPoint, "assay_dataset", variant_.dataset, nothing);
  line(kPoint, "assay_quality_target", recipe.target, nothing);
  line(kEnd, "init_stop", nullptr, nothing);
}

void TrainingLog::on_start(const TrainStart& start) {
  line(kBegin, "run_start", nullptr, {});
  running_ = true;
  open_block(static_cast<double>(start.first_step) / static_cast<double>(start.steps_per_epoch));
}

void TrainingLog::open_block(double epochs_done) {
  block_start_ = epochs_done;
  in_block_ = true;
  // A block lasts until the next evaluation, which is less than an epoch where there are several;
  // the last one of a training may be shorter than planned.
  const double length =
      std::min(1 / variant_.recipe.evaluations_per_epoch, variant_.recipe.epochs - epochs_done);
  line(kBegin, "block_start", nullptr,
       Json{{"first_epoch_num", static_cast<int64_t>(std::floor(epochs_done)) + 1},
            {"epoch_count", length > 0 ? length : 1 / variant_.recipe.evaluations_per_epoch}});
}

void TrainingLog::on_evaluation_start(int64_t /*step*/, double epoch) {
  line(kEnd, "block_stop", nullptr,
       Json{{"first_epoch_num", static_cast<int64_t>(std::floor(block_start_)) + 1},
            {"epoch_count", epoch - block_start_}});
  in_block_ = false;
  line(kBegin, "eval_start", nullptr, Json{{"epoch_num", epoch}});
}

void TrainingLog::on_evaluation(const EvaluationPoint& point) {
  const Json epoch{{"epoch_num", point.epoch}};
  line(kPoint, "eval_accuracy", point.quality, epoch);
  line(kEnd, "eval_stop", nullptr, epoch);
  const bool last =
      point.quality >= variant_.recipe.target || point.epoch >= variant_.recipe.epochs - 1e-9;
  if (!last) open_block(point.epoch);
}

void TrainingLog::on_stop(bool reached) {
  if (in_block_) {
    line(kEnd, "block_stop", nullptr,
         Json{{"first_epoch_num", static_cast<int64_t>(std::floor(block_start_)) + 1}});
    in_block_ = false;
  }
  // The rules know two endings: the target was reached, or the run was given up.
  line(kEnd, "run_stop", nullptr, Json{{"status", reached ? "success" : "aborted"}});
  running_ = false;
}

void TrainingLog::aborted() {
  if (running_) on_stop(false);
}

void TrainingLog::line(std::string_view event, std::string_view key, const Json& value,
                       const Json& metadata, int source_line) {
  Json where{{"file", "src/mlperf/training_log.cpp"}, {"lineno", source_line}};
  if (metadata.is_object()) where.update(metadata);
  const Json record{{"namespace", ""},     {"time_ms", clock_->unix_time().count()},
                    {"event_type", event}, {"key", key},
                    {"value", value},      {"metadata", std::move(where)}};
  text_ += ":::MLLOG ";
  write_json(record, text_);
  text_ += '\n';
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// TrainingLog: a training run as MLPerf's log (":::MLLOG" lines, the form of v0.7 on; mlcommons/
// logging, mlperf_logging/mllog). Open division, status research, and only what is true: values
// that a closed rule would like to see are not invented. Lines are kept in memory; text() is the
// whole log. Cost: a line every few steps. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/json_fwd.h"
#include "train/train.h"
#include "workload/workload.h"

namespace assay {

// The name that MLPerf's rule sets give a workload ("resnet"), or nullopt where they have none.
std::optional<std::string> mlperf_benchmark(const Workload& workload);

class TrainingLog final : public TrainObserver {
 public:
  // Writes the submission lines and init_start: make it before the task and the trainer. `clock`
  // outlives it. `platform` says what it runs on (processor, device). kUnsupported for a workload
  // the rule sets do not know.
  static Result<TrainingLog> start(const Workload& workload, const WorkloadVariant& variant,
                                   const std::string& organisation, const std::string& platform,
                                   const Clock& clock);
  // Hyper-parameters and init_stop: when the trainer is ready, before train().
  void initialised(const Task& task, uint64_t seed);

  void on_start(const TrainStart& start) override;
  void on_evaluation_start(int64_t step, double epoch) override;
  void on_evaluation(const EvaluationPoint& point) override;
  void on_stop(bool reached) override;
  // The run ended without on_stop(): run_stop with status "aborted".
  void aborted();

  const std::string& text() const { return text_; }

 private:
  TrainingLog(WorkloadVariant variant, const Clock& clock);
  void open_block(double first_epoch);
  // `source_line` is where the call stands, as mlperf-logging has it; clang 14 has no
  // std::source_location over libstdc++.
  void line(std::string_view event, std::string_view key, const Json& value, const Json& metadata,
            int source_line = __builtin_LINE());

  WorkloadVariant variant_;
  const Clock* clock_;
  std::string text_;
  double block_start_ = 0;  // epochs done when the open block began
  bool running_ = false;
  bool in_block_ = false;
};

}  // namespace assay

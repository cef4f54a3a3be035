// SPDX-License-Identifier: Apache-2.0
//
// ReportData: the records of a report, and those of them that answer one question, grouped.
// Built once from a store; pages only read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "measure/survival.h"
#include "record/record.h"
#include "record/store.h"

namespace assay {

// Training runs that differ only by their seed: same plan, same digest, same machine.
struct TrainingGroup {
  std::string label;                // "image-classification small, f32, batch 128, 2 threads"
  std::vector<const Record*> runs;  // ordered by seed, then by id
};

// Inference of one subject that differs only by precision and batch.
struct InferenceGroup {
  std::string label;
  std::vector<const Record*> runs;  // ordered by precision (f32 first), then by batch
};

// Times to target of a group. A run that stopped short is censored at its time; one that has no
// result at all (crashed, failed, timed out) is counted apart.
struct TargetTimes {
  std::vector<double> reached;            // of the runs that reached it, in order
  std::vector<Observation> observations;  // with the censored ones
  std::vector<const Record*> without_result;
  int64_t censored() const { return static_cast<int64_t>(observations.size() - reached.size()); }
};

struct ReportData {
  std::string title;
  std::vector<Record> records;
  std::vector<Run> runs;
  std::map<std::string, Json> environments;
  std::vector<TrainingGroup> training;
  std::vector<InferenceGroup> inference;
  std::vector<const Record*> profiles;  // counted, not run; by subject, then precision and batch
};

// kNotFound when nothing was recorded.
Result<ReportData> read_report_data(const Store& store, const std::optional<std::string>& run_id);

TargetTimes target_times(const TrainingGroup& group);
// "image-classification small": what a case is about.
std::string subject_of(const Case& measured);
// Whether the run was trained to a target (and not for a number of steps).
bool has_target(const Record& record);
// The item, quality metric or another fact of the first record of a group that has it.
std::string fact_of(const std::vector<const Record*>& records, const std::string& name);
// The batch, or another number: what was used (a metric) before what the case says.
std::optional<double> used_number(const Record& record, const std::string& name);

}  // namespace assay

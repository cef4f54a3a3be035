// SPDX-License-Identifier: Apache-2.0
#include "report/report_data.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace assay {

std::string subject_of(const Case& measured) {
  for (const char* key : {"workload", "model", "file"}) {
    const std::string& name = measured.get(key);
    if (name.empty()) continue;
    const bool has_variants = std::string_view(key) != "file";
    return has_variants ? name + " " + measured.get("variant") : name;
  }
  return "unnamed";
}

namespace {

std::string counted(double number, const std::string& noun) {
  return shortest(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string plan_of(const Record& record, bool with_batch_and_precision) {
  const Case& measured = record.measured_case;
  std::string text = measured.get("engine");
  if (measured.get("device") != "cpu") text += " on " + measured.get("device");
  if (with_batch_and_precision) {
    text += ", " + measured.get("precision");
    if (const auto batch = used_number(record, "batch")) text += ", batch " + shortest(*batch);
  }
  if (const auto threads = used_number(record, "threads")) {
    text += ", " + counted(*threads, "thread");
  }
  if (measured.integer("replicas") > 1) {
    text += ", " + std::to_string(measured.integer("replicas")) + " replicas";
  }
  if (measured.integer("level") != 2) text += ", level " + measured.get("level");
  if (measured.get("scenario") != "throughput") text += ", " + measured.get("scenario");
  if (measured.integer("steps") > 0) text += ", " + measured.get("steps") + " steps";
  if (measured.number("epochs") > 0) text += ", " + measured.get("epochs") + " epochs";
  for (const auto& [name, value] : measured.overrides()) text += ", " + name + "=" + value;
  return text;
}

// The case with some keys at their defaults: equal texts belong together.
std::string key_without(const Record& record, std::initializer_list<const char*> keys) {
  Case stripped = record.measured_case;
  for (const char* key : keys) {
    auto changed = stripped.with(key, find_case_key(key)->default_value);
    if (changed.ok()) stripped = std::move(*changed);
  }
  return stripped.text() + "\n" + record.environment_id;
}

// f32 is what the others are compared with; the rest by name.
std::tuple<int, std::string, double, int64_t> inference_order(const Record& record) {
  const std::string& precision = record.measured_case.get("precision");
  return {precision == "f32" ? 0 : 1, precision, used_number(record, "batch").value_or(0),
          record.id};
}

void group_records(ReportData& data) {
  std::map<std::string, size_t> training;
  std::map<std::string, size_t> inference;
  for (const Record& record : data.records) {
    const std::string& activity = record.measured_case.get("activity");
    if (activity == "train") {
      const std::string key = key_without(record, {"seed"});
      const auto [found, is_new] = training.emplace(key, data.training.size());
      if (is_new) data.training.push_back({});
      data.training[found->second].runs.push_back(&record);
    } else if (activity == "infer") {
      const std::string key = key_without(record, {"seed", "precision", "batch"});
      const auto [found, is_new] = inference.emplace(key, data.inference.size());
      if (is_new) data.inference.push_back({});
      data.inference[found->second].runs.push_back(&record);
    } else if (activity == "profile" && !record.metrics.empty()) {
      data.profiles.push_back(&record);
    }
  }
  std::stable_sort(data.profiles.begin(), data.profiles.end(),
                   [](const Record* a, const Record* b) {
                     return std::pair(subject_of(a->measured_case), inference_order(*a)) <
                            std::pair(subject_of(b->measured_case), inference_order(*b));
                   });
}

// The record whose metrics say most about what was used.
const Record& most_telling(const std::vector<const Record*>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(),
                                  [](const Record* run) { return !run->metrics.empty(); });
  return found == runs.end() ? *runs.front() : **found;
}

void name_and_order(ReportData& data) {
  for (TrainingGroup& group : data.training) {
    const Record& example = most_telling(group.runs);
    group.label = subject_of(example.measured_case) + ", " + plan_of(example, true);
    std::sort(group.runs.begin(), group.runs.end(), [](const Record* a, const Record* b) {
      return std::pair(a->measured_case.unsigned_integer("seed"), a->id) <
             std::pair(b->measured_case.unsigned_integer("seed"), b->id);
    });
  }
  for (InferenceGroup& group : data.inference) {
    const Record& example = most_telling(group.runs);
    group.label = subject_of(example.measured_case) + ", " + plan_of(example, false);
    std::sort(group.runs.begin(), group.runs.end(), [](const Record* a, const Record* b) {
      return inference_order(*a) < inference_order(*b);
    });
  }
}

}  // namespace

Result<ReportData> read_report_data(const Store& store, const std::optional<std::string>& run_id) {
  ReportData data;
  RecordQuery query;
  query.run_id = run_id;
  ASSAY_ASSIGN(data.records, store.query(query));
  if (data.records.empty()) {
    return Error{ErrorCode::kNotFound,
                 run_id ? "the database has no records of run '" + *run_id + "'"
                        : "the database has no records",
                 store.path().string(), "measure something first: assay study quick"};
  }
  ASSAY_ASSIGN(std::vector<Run> runs, store.runs());
  for (Run& run : runs) {
    if (!run_id || run.run_id == *run_id) data.runs.push_back(std::move(run));
  }
  for (const Record& record : data.records) {
    const std::string& id = record.environment_id;
    if (id.empty() || data.environments.contains(id)) continue;
    ASSAY_ASSIGN(Json environment, store.environment(id));
    data.environments.emplace(id, std::move(environment));
  }
  group_records(data);
  name_and_order(data);
  return data;
}

bool has_target(const Record& record) {
  return record.metric("target") != nullptr || record.facts.contains("reached") ||
         record.measured_case.integer("steps") == 0;
}

TargetTimes target_times(const TrainingGroup& group) {
  TargetTimes times;
  for (const Record* run : group.runs) {
    const Metric* to_target = run->metric("time_to_target_s");
    const Metric* total = run->metric("time_s");
    if (to_target != nullptr) {
      times.reached.push_back(to_target->value);
      times.observations.push_back({to_target->value, true});
    } else if (run->status == Status::kShortOfTarget && total != nullptr) {
      times.observations.push_back({total->value, false});
    } else if (has_target(*run)) {
      times.without_result.push_back(run);
    }
  }
  return times;
}

std::string fact_of(const std::vector<const Record*>& records, const std::string& name) {
  for (const Record* record : records) {
    if (const auto found = record->facts.find(name); found != record->facts.end()) {
      return found->second;
    }
  }
  return "";
}

std::optional<double> used_number(const Record& record, const std::string& name) {
  if (const Metric* used = record.metric(name)) return used->value;
  const int64_t asked = record.measured_case.integer(name);
  if (asked == 0) return std::nullopt;
  return static_cast<double>(asked);
}

}  // namespace assay

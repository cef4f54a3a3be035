// SPDX-License-Identifier: Apache-2.0
//
// Record: whatever happened to a case. Nothing else crosses from measuring to reporting.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "record/case.h"

namespace assay {

enum class Status : uint8_t {
  kMeasured,
  kSkipped,
  kUnsupported,
  kFailed,
  kCrashed,
  kTimeout,
  kNoisy,
  kUntrusted,
  kShortOfTarget,
};
std::string_view status_name(Status status);  // "short-of-target"
Result<Status> parse_status(std::string_view name);
// kFailed, kCrashed, kTimeout and kShortOfTarget make a command exit with 1.
bool is_failure(Status status);

struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0.95;
  std::string method;  // "t", "batch-means", "block-bootstrap", "order-statistics"
};

// A number with its unit at the end of its name ("latency_p50_ns"), tagged where a name repeats.
struct Metric {
  std::string name;
  double value = 0;
  std::optional<Interval> interval;
  std::map<std::string, std::string> tags;
};

// Raw measurements in the order they were taken; parallel series share a length.
struct Samples {
  std::string name;  // "step_time_ns"
  std::vector<double> values;
};

struct Record {
  int64_t id = 0;      // given by the store
  std::string run_id;  // one per command invocation: groups and resumes
  Case measured_case;
  std::string digest;  // of graph + recipe + data
  Status status = Status::kFailed;
  std::string reason;  // empty only when measured without remark
  std::vector<Metric> metrics;
  std::map<std::string, std::string> facts;    // text fields: "item", "metric", "precision_used"
  std::map<std::string, std::string> missing;  // field -> why it is null
  std::vector<std::string> marks;              // "contended: ...", "drift: ...", "unofficial: ..."
  std::vector<Samples> samples;
  std::string environment_id;
  std::string code_version;
  std::chrono::milliseconds started_at{0};  // unix time
  double duration_s = 0;

  const Metric* metric(std::string_view name) const;  // the first of that name, or null
  const Samples* samples_named(std::string_view name) const;
  void add(std::string name, double value, std::optional<Interval> interval = std::nullopt);
};

Json to_json(const Record& record);
Result<Record> record_from_json(const Json& json);

}  // namespace assay

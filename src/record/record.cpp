// SPDX-License-Identifier: Apache-2.0
#include "record/record.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 9> kStatusNames = {
    "measured", "skipped", "unsupported", "failed",         "crashed",
    "timeout",  "noisy",   "untrusted",   "short-of-target"};

// JSON has no NaN and no infinity: they travel as text.
Json number_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

Error bad_field(std::string_view field, std::string_view expected) {
  return Error{ErrorCode::kCorrupt, "is not " + std::string(expected),
               "record field '" + std::string(field) + "'"};
}

Result<double> read_number(const Json& json, std::string_view field) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return bad_field(field, "a number");
}

// An absent member reads as null; the readers below refuse what has the wrong type.
const Json& member(const Json& json, const char* name) {
  static const Json null;
  const auto found = json.find(name);
  return found == json.end() ? null : *found;
}

Result<std::string> read_text(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (value.is_null()) return std::string();
  if (!value.is_string()) return bad_field(name, "text");
  return value.get<std::string>();
}

Result<std::map<std::string, std::string>> read_text_map(const Json& json, const char* name) {
  std::map<std::string, std::string> out;
  const Json& value = member(json, name);
  if (value.is_null()) return out;
  if (!value.is_object()) return bad_field(name, "an object");
  for (const auto& [key, entry] : value.items()) {
    if (!entry.is_string()) return bad_field(std::string(name) + "." + key, "text");
    out.emplace(key, entry.get<std::string>());
  }
  return out;
}

Result<const Json*> read_array(const Json& json, const char* name) {
  static const Json nothing = Json::array();
  const Json& value = member(json, name);
  if (value.is_null()) return &nothing;
  if (!value.is_array()) return bad_field(name, "a list");
  return &value;
}

Json metric_json(const Metric& metric) {
  Json json = {{"name", metric.name}, {"value", number_json(metric.value)}};
  if (metric.interval) {
    json["interval"] = {{"low", number_json(metric.interval->low)},
                        {"high", number_json(metric.interval->high)},
                        {"confidence", number_json(metric.interval->confidence)},
                        {"method", metric.interval->method}};
  }
  if (!metric.tags.empty()) json["tags"] = metric.tags;
  return json;
}

Result<Metric> read_metric(const Json& json) {
  if (!json.is_object()) return bad_field("metrics", "a list of objects");
  Metric metric;
  ASSAY_ASSIGN(metric.name, read_text(json, "name"));
  ASSAY_ASSIGN(metric.value, read_number(member(json, "value"), "metrics.value"));
  ASSAY_ASSIGN(metric.tags, read_text_map(json, "tags"));
  const Json& interval = member(json, "interval");
  if (interval.is_null()) return metric;
  if (!interval.is_object()) return bad_field("metrics.interval", "an object");
  Interval read;
  ASSAY_ASSIGN(read.low, read_number(member(interval, "low"), "metrics.interval.low"));
  ASSAY_ASSIGN(read.high, read_number(member(interval, "high"), "metrics.interval.high"));
  ASSAY_ASSIGN(read.confidence,
               read_number(member(interval, "confidence"), "metrics.interval.confidence"));
  ASSAY_ASSIGN(read.method, read_text(interval, "method"));
  metric.interval = std::move(read);
  return metric;
}

Result<Samples> read_samples(const Json& json) {
  if (!json.is_object()) return bad_field("samples", "a list of objects");
  Samples samples;
  ASSAY_ASSIGN(samples.name, read_text(json, "name"));
  ASSAY_ASSIGN(const Json* values, read_array(json, "values"));
  samples.values.reserve(values->size());
  for (const Json& value : *values) {
    ASSAY_ASSIGN(const double number, read_number(value, "samples.values"));
    samples.values.push_back(number);
  }
  return samples;
}

Result<void> read_lists(const Json& json, Record& record) {
  ASSAY_ASSIGN(const Json* metrics, read_array(json, "metrics"));
  for (const Json& entry : *metrics) {
    ASSAY_ASSIGN(Metric metric, read_metric(entry));
    record.metrics.push_back(std::move(metric));
  }
  ASSAY_ASSIGN(const Json* samples, read_array(json, "samples"));
  for (const Json& entry : *samples) {
    ASSAY_ASSIGN(Samples series, read_samples(entry));
    record.samples.push_back(std::move(series));
  }
  ASSAY_ASSIGN(const Json* marks, read_array(json, "marks"));
  for (const Json& mark : *marks) {
    if (!mark.is_string()) return bad_field("marks", "a list of texts");
    record.marks.push_back(mark.get<std::string>());
  }
  return {};
}

Result<int64_t> read_integer(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (value.is_null()) return int64_t{0};
  if (!value.is_number_integer()) return bad_field(name, "an integer");
  return value.get<int64_t>();
}

}  // namespace

std::string_view status_name(Status status) { return kStatusNames.at(static_cast<size_t>(status)); }

Result<Status> parse_status(std::string_view name) {
  for (size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames[i] == name) return static_cast<Status>(i);
  }
  return Error{ErrorCode::kInvalid, "unknown status '" + std::string(name) + "'", "status"};
}

bool is_failure(Status status) {
  return status == Status::kFailed || status == Status::kCrashed || status == Status::kTimeout ||
         status == Status::kShortOfTarget;
}

const Metric* Record::metric(std::string_view name) const {
  for (const Metric& metric : metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

const Samples* Record::samples_named(std::string_view name) const {
  for (const Samples& series : samples) {
    if (series.name == name) return &series;
  }
  return nullptr;
}

void Record::add(std::string name, double value, std::optional<Interval> interval) {
  metrics.push_back({std::move(name), value, std::move(interval), {}});
}

Json to_json(const Record& record) {
  Json json = {{"id", record.id},
               {"run", record.run_id},
               {"case", record.measured_case.text()},
               {"digest", record.digest},
               {"status", status_name(record.status)},
               {"reason", record.reason},
               {"metrics", Json::array()},
               {"facts", record.facts},
               {"missing", record.missing},
               {"marks", record.marks},
               {"samples", Json::array()},
               {"environment", record.environment_id},
               {"code_version", record.code_version},
               {"started_unix_ms", record.started_at.count()},
               {"duration_s", number_json(record.duration_s)}};
  for (const Metric& metric : record.metrics) json["metrics"].push_back(metric_json(metric));
  for (const Samples& series : record.samples) {
    Json values = Json::array();
    for (const double value : series.values) values.push_back(number_json(value));
    json["samples"].push_back({{"name", series.name}, {"values", std::move(values)}});
  }
  return json;
}

Result<Record> record_from_json(const Json& json) {
  if (!json.is_object()) {
    return Error{ErrorCode::kCorrupt, "a record is a JSON object", "record"};
  }
  Record record;
  ASSAY_ASSIGN(record.id, read_integer(json, "id"));
  ASSAY_ASSIGN(record.run_id, read_text(json, "run"));
  ASSAY_ASSIGN(const std::string text, read_text(json, "case"));
  ASSAY_ASSIGN(record.measured_case, Case::parse(text));
  ASSAY_ASSIGN(record.digest, read_text(json, "digest"));
  ASSAY_ASSIGN(const std::string status, read_text(json, "status"));
  ASSAY_ASSIGN(record.status, parse_status(status));
  ASSAY_ASSIGN(record.reason, read_text(json, "reason"));
  ASSAY_ASSIGN(record.facts, read_text_map(json, "facts"));
  ASSAY_ASSIGN(record.missing, read_text_map(json, "missing"));
  ASSAY_ASSIGN(record.environment_id, read_text(json, "environment"));
  ASSAY_ASSIGN(record.code_version, read_text(json, "code_version"));
  ASSAY_ASSIGN(const int64_t started, read_integer(json, "started_unix_ms"));
  record.started_at = std::chrono::milliseconds(started);
  const Json& duration = member(json, "duration_s");
  if (!duration.is_null()) {
    ASSAY_ASSIGN(record.duration_s, read_number(duration, "duration_s"));
  }
  ASSAY_TRY(read_lists(json, record));
  return record;
}

}  // namespace assay

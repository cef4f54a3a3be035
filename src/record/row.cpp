// SPDX-License-Identifier: Apache-2.0
#include "record/row.h"

#include <cmath>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

namespace assay {
namespace {

// A value, or null with why. Never both.
struct Cell {
  Json value;
  std::string reason;
};

Cell number_cell(const Field& field, double value) {
  if (!std::isfinite(value)) return {nullptr, std::isnan(value) ? "not a number" : "infinite"};
  if (field.type == FieldType::kInteger) return {static_cast<int64_t>(std::llround(value)), ""};
  return {value, ""};
}

Cell metric_cell(const Record& record, const Field& field) {
  const Metric* metric = record.metric(field.from);
  if (metric == nullptr) return {};
  if (field.source == FieldSource::kMetric) return number_cell(field, metric->value);
  if (!metric->interval) {
    const auto why = record.missing.find(field.from + ".interval");
    return {nullptr, why != record.missing.end() ? why->second : "no interval was computed"};
  }
  if (field.source == FieldSource::kMethod) return {metric->interval->method, ""};
  return number_cell(
      field, field.source == FieldSource::kLow ? metric->interval->low : metric->interval->high);
}

Cell fact_cell(const Record& record, const Field& field) {
  const auto found = record.facts.find(field.from);
  if (found == record.facts.end()) return {};
  if (field.type == FieldType::kBoolean) return {found->second == "true", ""};
  return {found->second, ""};
}

// What was really used is a metric of the same name; the case may only say "the default".
Cell case_cell(const Record& record, const Field& field) {
  if (const Metric* used = record.metric(field.from)) return number_cell(field, used->value);
  const std::string& value = record.measured_case.get(field.from);
  if (field.type == FieldType::kText) {
    if (value.empty()) return {nullptr, "not part of this case"};
    return {value, ""};
  }
  const int64_t number = record.measured_case.integer(field.from);
  const bool is_default = number == 0 && (field.from == "batch" || field.from == "threads");
  if (is_default) return {nullptr, field.from == "batch" ? "the recipe's" : "every thread"};
  return {number, ""};
}

Cell record_cell(const Record& record, const Field& field) {
  if (field.name == "case") return {record.measured_case.text(), ""};
  if (field.name == "status") return {status_name(record.status), ""};
  if (field.name == "reason") return {record.reason, ""};
  if (field.name == "marks") return {record.marks, ""};
  if (field.name == "duration_s") return number_cell(field, record.duration_s);
  if (field.name == "started") return {iso8601(record.started_at), ""};
  if (field.name == "record") {
    if (record.id == 0) return {nullptr, "not stored"};
    return {record.id, ""};
  }
  const std::string* text = field.name == "digest"        ? &record.digest
                            : field.name == "run"         ? &record.run_id
                            : field.name == "environment" ? &record.environment_id
                                                          : &record.code_version;
  if (text->empty()) return {};
  return {*text, ""};
}

Cell cell_of(const Record& record, const Field& field) {
  switch (field.source) {
    case FieldSource::kRow:
      return {};
    case FieldSource::kMetric:
    case FieldSource::kLow:
    case FieldSource::kHigh:
    case FieldSource::kMethod:
      return metric_cell(record, field);
    case FieldSource::kFact:
      return fact_cell(record, field);
    case FieldSource::kCase:
      return case_cell(record, field);
    case FieldSource::kRecord:
      return record_cell(record, field);
  }
  return {};
}

std::string reason_of_absence(const Record& record, const Field& field) {
  for (const std::string& name : {field.name, field.from}) {
    if (const auto given = record.missing.find(name); given != record.missing.end()) {
      return given->second;
    }
  }
  if (record.status == Status::kMeasured || record.status == Status::kNoisy) return "not recorded";
  std::string reason(status_name(record.status));
  if (!record.reason.empty()) reason += ": " + record.reason;
  return reason;
}

}  // namespace

Json row_of(const Record& record, const RowSchema& schema) {
  Json row = Json::object();
  Json missing = Json::object();
  for (const Field& field : schema.fields) {
    Cell cell = cell_of(record, field);
    if (cell.value.is_null()) {
      missing[field.name] = cell.reason.empty() ? reason_of_absence(record, field) : cell.reason;
    }
    row[field.name] = std::move(cell.value);
  }
  row["missing"] = std::move(missing);
  return row;
}

Json make_row(const RowSchema& schema, Json values) {
  ASSAY_ASSERT(values.is_object(), schema.command);
  for (const auto& [name, value] : values.items()) {
    ASSAY_ASSERT(name == "missing" || schema.field(name) != nullptr, name);
  }
  Json missing = values.value("missing", Json::object());
  Json row = Json::object();
  for (const Field& field : schema.fields) {
    const auto given = values.find(field.name);
    if (given != values.end() && !given->is_null()) {
      row[field.name] = *given;
    } else if (field.name == "status") {
      row[field.name] = status_name(Status::kMeasured);
    } else if (field.name == "reason") {
      row[field.name] = "";
    } else {
      row[field.name] = nullptr;
      const bool of_case = field.name == "case" || field.name == "digest";
      if (!missing.contains(field.name)) {
        missing[field.name] = of_case ? "nothing was measured" : "does not apply";
      }
    }
  }
  row["missing"] = std::move(missing);
  return row;
}

Json schema_rows(std::string_view command) {
  const RowSchema* own = find_row_schema("schema");
  ASSAY_ASSERT(own != nullptr, "schema");
  Json rows = Json::array();
  for (const RowSchema& schema : row_schemas()) {
    if (!command.empty() && schema.command != command) continue;
    for (const Field& field : schema.fields) {
      Json values = {{"command", schema.command},
                     {"field", field.name},
                     {"type", field_type_name(field.type)},
                     {"nullable", field.nullable},
                     {"doc", field.doc}};
      if (!schema.kind.empty()) values["kind"] = schema.kind;
      if (!field.unit.empty()) values["unit"] = field.unit;
      rows.push_back(make_row(*own, std::move(values)));
    }
  }
  return rows;
}

}  // namespace assay

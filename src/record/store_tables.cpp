// SPDX-License-Identifier: Apache-2.0
#include "record/store_tables.h"

#include <algorithm>

#include "record/schema.h"

namespace assay::store_tables {
namespace {

std::string quoted(const std::string& name) { return "\"" + name + "\""; }  // an identifier

std::string literal(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

std::string from_metric(const std::string& column, const std::string& metric) {
  return "(SELECT " + column +
         " FROM metrics WHERE record_id = r.id AND name = " + literal(metric) +
         " ORDER BY position LIMIT 1)";
}

std::string from_case(const Field& field) {
  const std::string column = "r." + quoted(field.from);
  if (field.type == FieldType::kText) return "NULLIF(" + column + ", '')";
  // 0 is "the default"; what was really used is a metric of the same name.
  return "COALESCE(" + from_metric("value", field.from) + ", NULLIF(" + column + ", 0))";
}

std::string from_record(const Field& field) {
  if (field.name == "case") return "r.case_text";
  if (field.name == "run") return "r.run_id";
  if (field.name == "record") return "r.id";
  if (field.name == "environment") return "NULLIF(r.environment_id, '')";
  if (field.name == "started") {
    return "strftime('%Y-%m-%dT%H:%M:%SZ', r.started_unix_ms / 1000, 'unixepoch')";
  }
  return "r." + quoted(field.name);
}

std::string expression(const Field& field) {
  switch (field.source) {
    case FieldSource::kRow:
      return "NULL";
    case FieldSource::kMetric:
      return from_metric("value", field.from);
    case FieldSource::kLow:
      return from_metric("low", field.from);
    case FieldSource::kHigh:
      return from_metric("high", field.from);
    case FieldSource::kMethod:
      return from_metric("method", field.from);
    case FieldSource::kFact:
      return "json_extract(r.facts, '$." + field.from + "')";
    case FieldSource::kCase:
      return from_case(field);
    case FieldSource::kRecord:
      return from_record(field);
  }
  return "NULL";
}

bool is_made_from_records(const RowSchema& schema) {
  return std::any_of(schema.fields.begin(), schema.fields.end(),
                     [](const Field& field) { return field.source == FieldSource::kMetric; });
}

}  // namespace

std::string case_column(const CaseKey& key) {
  switch (key.type) {
    case CaseValueType::kInteger:
    case CaseValueType::kBoolean:
      return quoted(key.name) + " INTEGER NOT NULL DEFAULT " + key.default_value;
    case CaseValueType::kNumber:
      return quoted(key.name) + " REAL NOT NULL DEFAULT " + key.default_value;
    case CaseValueType::kText:
    case CaseValueType::kUnsigned:
      break;
  }
  return quoted(key.name) + " TEXT NOT NULL DEFAULT " + literal(key.default_value);
}

std::vector<std::string> creation() {
  std::string records =
      "CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL,"
      " case_text TEXT NOT NULL, digest TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,"
      " facts TEXT NOT NULL, missing TEXT NOT NULL, marks TEXT NOT NULL,"
      " environment_id TEXT NOT NULL, code_version TEXT NOT NULL,"
      " started_unix_ms INTEGER NOT NULL, duration_s REAL";
  for (const CaseKey& key : case_keys()) records += ", " + case_column(key);
  records += ")";
  return {records, "CREATE INDEX IF NOT EXISTS records_by_run ON records (run_id)",
          "CREATE INDEX IF NOT EXISTS records_by_case ON records (case_text, digest)",
          "CREATE INDEX IF NOT EXISTS records_by_activity ON records (activity, workload, model)",
          // NaN is stored as NULL, because SQL has none.
          "CREATE TABLE IF NOT EXISTS metrics (record_id INTEGER NOT NULL REFERENCES records (id),"
          " position INTEGER NOT NULL, name TEXT NOT NULL, value REAL, low REAL, high REAL,"
          " confidence REAL, method TEXT, tags TEXT NOT NULL, PRIMARY KEY (record_id, position))"
          " WITHOUT ROWID",
          "CREATE TABLE IF NOT EXISTS samples (record_id INTEGER NOT NULL REFERENCES records (id),"
          " position INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,"
          " format INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (record_id, position))",
          "CREATE TABLE IF NOT EXISTS environments (id TEXT PRIMARY KEY, document TEXT NOT NULL)",
          "CREATE TABLE IF NOT EXISTS runs (run_id TEXT PRIMARY KEY, command TEXT NOT NULL,"
          " started_unix_ms INTEGER NOT NULL)"};
}

std::vector<std::pair<std::string, std::string>> views() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const RowSchema& schema : row_schemas()) {
    if (!is_made_from_records(schema)) continue;
    std::string sql = "CREATE VIEW " + quoted(schema.command) + " AS SELECT ";
    bool is_first = true;
    for (const Field& field : schema.fields) {
      sql += (is_first ? "" : ", ") + expression(field) + " AS " + quoted(field.name);
      is_first = false;
    }
    sql += " FROM records r";
    // The rows of a command with an activity of its own are of that activity; the others have one.
    if (schema.field("activity") == nullptr)
      sql += " WHERE r.activity = " + literal(schema.command);
    out.emplace_back(schema.command, std::move(sql));
  }
  return out;
}

}  // namespace assay::store_tables

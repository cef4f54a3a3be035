// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/json.h"
#include "record/samples_codec.h"
#include "record/store.h"
#include "record/store_errors.h"

namespace assay {
namespace {

constexpr const char* kColumns =
    "id, run_id, case_text, digest, status, reason, facts, missing, marks, environment_id,"
    " code_version, started_unix_ms, duration_s";

// SQL has no NaN: it was stored as NULL.
double number_of(const SQLite::Column& column) {
  return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

Error damaged(const std::filesystem::path& path, int64_t id, const Error& cause) {
  return Error{ErrorCode::kCorrupt, cause.text(), path.string() + ", record " + std::to_string(id)};
}

// A JSON column as T; text of another shape is damage.
template <class T>
Result<T> json_column(const SQLite::Column& column) {
  ASSAY_ASSIGN(const Json json, parse_json(column.getString(), column.getName()));
  try {
    return json.get<T>();
  } catch (const Json::exception& exception) {
    return Error{ErrorCode::kCorrupt, exception.what(), column.getName()};
  }
}

using TextMap = std::map<std::string, std::string>;

Result<Record> read_columns(SQLite::Statement& row) {
  Record record;
  record.id = row.getColumn(0).getInt64();
  record.run_id = row.getColumn(1).getString();
  ASSAY_ASSIGN(record.measured_case, Case::parse(row.getColumn(2).getString()));
  record.digest = row.getColumn(3).getString();
  ASSAY_ASSIGN(record.status, parse_status(row.getColumn(4).getString()));
  record.reason = row.getColumn(5).getString();
  ASSAY_ASSIGN(record.facts, json_column<TextMap>(row.getColumn(6)));
  ASSAY_ASSIGN(record.missing, json_column<TextMap>(row.getColumn(7)));
  ASSAY_ASSIGN(record.marks, json_column<std::vector<std::string>>(row.getColumn(8)));
  record.environment_id = row.getColumn(9).getString();
  record.code_version = row.getColumn(10).getString();
  record.started_at = std::chrono::milliseconds(row.getColumn(11).getInt64());
  record.duration_s = number_of(row.getColumn(12));
  return record;
}

Result<void> read_metrics(SQLite::Database& database, Record& record) {
  SQLite::Statement rows(database,
                         "SELECT name, value, low, high, confidence, method, tags FROM metrics"
                         " WHERE record_id = ? ORDER BY position");
  rows.bind(1, record.id);
  while (rows.executeStep()) {
    Metric metric;
    metric.name = rows.getColumn(0).getString();
    metric.value = number_of(rows.getColumn(1));
    if (!rows.getColumn(5).isNull()) {
      metric.interval = Interval{number_of(rows.getColumn(2)), number_of(rows.getColumn(3)),
                                 number_of(rows.getColumn(4)), rows.getColumn(5).getString()};
    }
    ASSAY_ASSIGN(metric.tags, json_column<TextMap>(rows.getColumn(6)));
    record.metrics.push_back(std::move(metric));
  }
  return {};
}

Result<void> read_samples(SQLite::Database& database, Record& record) {
  SQLite::Statement rows(database,
                         "SELECT name, count, format, data FROM samples WHERE record_id = ?"
                         " ORDER BY position");
  rows.bind(1, record.id);
  while (rows.executeStep()) {
    if (rows.getColumn(2).getInt() != kSamplesFormat) {
      return Error{ErrorCode::kCorrupt, "unknown format of samples", rows.getColumn(0).getString()};
    }
    const SQLite::Column data = rows.getColumn(3);
    const std::string_view bytes(static_cast<const char*>(data.getBlob()),
                                 static_cast<size_t>(data.getBytes()));
    ASSAY_ASSIGN(std::vector<double> values, decode_samples(bytes, rows.getColumn(1).getInt64()));
    record.samples.push_back({rows.getColumn(0).getString(), std::move(values)});
  }
  return {};
}

Result<Record> read_record(SQLite::Database& database, SQLite::Statement& row, bool with_samples,
                           const std::filesystem::path& path) {
  const int64_t id = row.getColumn(0).getInt64();
  Result<Record> record = read_columns(row);
  if (!record.ok()) return damaged(path, id, record.error());
  if (const auto done = read_metrics(database, *record); !done.ok()) {
    return damaged(path, id, done.error());
  }
  if (!with_samples) return record;
  if (const auto done = read_samples(database, *record); !done.ok()) {
    return damaged(path, id, done.error());
  }
  return record;
}

}  // namespace

Result<std::vector<Record>> Store::query(const RecordQuery& query) const {
  std::string where;
  std::vector<std::string> values;
  const auto require = [&](const char* column, const std::optional<std::string>& value) {
    if (!value) return;
    where += (where.empty() ? " WHERE " : " AND ") + std::string(column) + " = ?";
    values.push_back(*value);
  };
  require("run_id", query.run_id);
  require("activity", query.activity);
  require("workload", query.workload);
  require("model", query.model);
  require("case_text", query.case_text);
  require("digest", query.digest);
  if (query.status) require("status", std::string(status_name(*query.status)));
  return guarded(path_, [&]() -> Result<std::vector<Record>> {
    SQLite::Statement rows(
        *database_, std::string("SELECT ") + kColumns + " FROM records" + where + " ORDER BY id");
    for (size_t i = 0; i < values.size(); ++i) rows.bind(static_cast<int>(i) + 1, values[i]);
    std::vector<Record> records;
    while (rows.executeStep()) {
      ASSAY_ASSIGN(Record record, read_record(*database_, rows, query.with_samples, path_));
      records.push_back(std::move(record));
    }
    return records;
  });
}

Result<Record> Store::load(int64_t id) const {
  return guarded(path_, [&]() -> Result<Record> {
    SQLite::Statement row(*database_,
                          std::string("SELECT ") + kColumns + " FROM records WHERE id = ?");
    row.bind(1, id);
    if (!row.executeStep()) {
      return Error{ErrorCode::kNotFound, "there is no record " + std::to_string(id),
                   path_.string()};
    }
    return read_record(*database_, row, true, path_);
  });
}

Result<Json> Store::environment(std::string_view id) const {
  return guarded(path_, [&]() -> Result<Json> {
    SQLite::Statement row(*database_, "SELECT document FROM environments WHERE id = ?");
    row.bind(1, std::string(id));
    if (!row.executeStep()) {
      return Error{ErrorCode::kNotFound, "there is no environment '" + std::string(id) + "'",
                   path_.string()};
    }
    return parse_json(row.getColumn(0).getString(), path_.string());
  });
}

Result<std::vector<Run>> Store::runs() const {
  return guarded(path_, [&]() -> Result<std::vector<Run>> {
    SQLite::Statement rows(*database_,
                           "SELECT run_id, command, started_unix_ms FROM runs"
                           " ORDER BY started_unix_ms, rowid");
    std::vector<Run> runs;
    while (rows.executeStep()) {
      runs.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                      std::chrono::milliseconds(rows.getColumn(2).getInt64())});
    }
    return runs;
  });
}

Result<std::optional<std::string>> Store::latest_run() const {
  return guarded(path_, [&]() -> Result<std::optional<std::string>> {
    SQLite::Statement row(*database_, "SELECT run_id FROM records ORDER BY id DESC LIMIT 1");
    if (!row.executeStep()) return std::optional<std::string>();
    return std::optional<std::string>(row.getColumn(0).getString());
  });
}

Result<std::optional<Record>> Store::find_finished(const Case& measured_case,
                                                   std::string_view digest,
                                                   const std::optional<std::string>& run_id) const {
  std::string sql = std::string("SELECT ") + kColumns +
                    " FROM records WHERE case_text = ? AND status IN ('measured', 'noisy',"
                    " 'untrusted', 'short-of-target', 'unsupported')";
  std::vector<std::string> values = {measured_case.text()};
  if (!digest.empty()) {
    sql += " AND digest = ?";
    values.emplace_back(digest);
  }
  if (run_id) {
    sql += " AND run_id = ?";
    values.push_back(*run_id);
  }
  sql += " ORDER BY id DESC LIMIT 1";
  return guarded(path_, [&]() -> Result<std::optional<Record>> {
    SQLite::Statement row(*database_, sql);
    for (size_t i = 0; i < values.size(); ++i) row.bind(static_cast<int>(i) + 1, values[i]);
    if (!row.executeStep()) return std::optional<Record>();
    ASSAY_ASSIGN(Record record, read_record(*database_, row, true, path_));
    return std::optional<Record>(std::move(record));
  });
}

}  // namespace assay

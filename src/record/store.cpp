// SPDX-License-Identifier: Apache-2.0
#include "record/store.h"

#include <sqlite3.h>

#include <chrono>
#include <cmath>
#include <set>
#include <system_error>
#include <thread>

#include "base/hash.h"
#include "base/json.h"
#include "record/digest.h"
#include "record/samples_codec.h"
#include "record/store_errors.h"
#include "record/store_tables.h"

namespace assay {
namespace {

constexpr int kBusyMilliseconds = 30'000;
constexpr const char* kElsewhere = "give another file with --db";

int pragma(SQLite::Database& database, const std::string& name) {
  return database.execAndGet("PRAGMA " + name).getInt();
}

// Whether the file is ours, and of a version we know; true when it is still empty.
Result<bool> inspect(SQLite::Database& database, const std::filesystem::path& path) {
  const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  const int application = pragma(database, "application_id");
  if (application != store_tables::kApplicationId) {
    if (empty && application == 0) return true;
    return Error{ErrorCode::kInvalid, "the database is of another program", path.string(),
                 kElsewhere};
  }
  const int version = pragma(database, "user_version");
  if (version > store_tables::kVersion) {
    return Error{ErrorCode::kInvalid,
                 "the database has schema version " + std::to_string(version) +
                     ", newer than this assay's " + std::to_string(store_tables::kVersion),
                 path.string(), "use a newer assay, or another file with --db"};
  }
  return false;
}

// Two processes may create the file at once, and switching the journal is not covered by SQLite's
// busy handler. A file system without shared memory keeps the old journal: safe, only slower.
void use_write_ahead_log(SQLite::Database& database) {
  for (int attempt = 0;; ++attempt) {
    try {
      database.execAndGet("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_BUSY || attempt >= 500) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

// Tables that are missing, columns of case keys that are newer than the file, and the views.
void create_tables(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (const std::string& statement : store_tables::creation()) database.exec(statement);
  std::set<std::string> columns;
  SQLite::Statement existing(database, "SELECT name FROM pragma_table_info('records')");
  while (existing.executeStep()) columns.insert(existing.getColumn(0).getString());
  for (const CaseKey& key : case_keys()) {
    if (!columns.contains(key.name)) {
      database.exec("ALTER TABLE records ADD COLUMN " + store_tables::case_column(key));
    }
  }
  SQLite::Statement known(database,
                          "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?");
  for (const auto& [name, statement] : store_tables::views()) {
    known.reset();
    known.bind(1, name);
    if (known.executeStep() && known.getColumn(0).getString() == statement) continue;
    known.reset();
    database.exec("DROP VIEW IF EXISTS \"" + name + "\"");
    database.exec(statement);
  }
  database.exec("PRAGMA application_id = " + std::to_string(store_tables::kApplicationId));
  database.exec("PRAGMA user_version = " + std::to_string(store_tables::kVersion));
  transaction.commit();
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void bind_case(SQLite::Statement& insert, int first, const Case& measured) {
  for (const CaseKey& key : case_keys()) {
    switch (key.type) {
      case CaseValueType::kInteger:
        insert.bind(first, measured.integer(key.name));
        break;
      case CaseValueType::kBoolean:
        insert.bind(first, measured.boolean(key.name) ? 1 : 0);
        break;
      case CaseValueType::kNumber:
        insert.bind(first, measured.number(key.name));
        break;
      case CaseValueType::kText:
      case CaseValueType::kUnsigned:
        insert.bind(first, measured.get(key.name));
        break;
    }
    ++first;
  }
}

int64_t insert_record(SQLite::Database& database, const Record& record) {
  std::string names =
      "run_id, case_text, digest, status, reason, facts, missing, marks, environment_id,"
      " code_version, started_unix_ms, duration_s";
  std::string places = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";
  for (const CaseKey& key : case_keys()) {
    names += ", \"" + key.name + "\"";
    places += ", ?";
  }
  SQLite::Statement insert(database, "INSERT INTO records (" + names + ") VALUES (" + places + ")");
  insert.bind(1, record.run_id);
  insert.bind(2, record.measured_case.text());
  insert.bind(3, record.digest);
  insert.bind(4, std::string(status_name(record.status)));
  insert.bind(5, record.reason);
  insert.bind(6, text_of(record.facts));
  insert.bind(7, text_of(record.missing));
  insert.bind(8, text_of(record.marks));
  insert.bind(9, record.environment_id);
  insert.bind(10, record.code_version);
  insert.bind(11, static_cast<int64_t>(record.started_at.count()));
  insert.bind(12, record.duration_s);
  bind_case(insert, 13, record.measured_case);
  insert.exec();
  return database.getLastInsertRowid();
}

void insert_metrics(SQLite::Database& database, int64_t id, const Record& record) {
  SQLite::Statement insert(database,
                           "INSERT INTO metrics (record_id, position, name, value, low, high,"
                           " confidence, method, tags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  int position = 0;
  for (const Metric& metric : record.metrics) {
    insert.reset();
    insert.clearBindings();
    insert.bind(1, id);
    insert.bind(2, position++);
    insert.bind(3, metric.name);
    insert.bind(4, metric.value);
    if (metric.interval) {
      insert.bind(5, metric.interval->low);
      insert.bind(6, metric.interval->high);
      insert.bind(7, metric.interval->confidence);
      insert.bind(8, metric.interval->method);
    }
    insert.bind(9, text_of(metric.tags));
    insert.exec();
  }
}

void insert_samples(SQLite::Database& database, int64_t id, const Record& record) {
  SQLite::Statement insert(database,
                           "INSERT INTO samples (record_id, position, name, count, format, data)"
                           " VALUES (?, ?, ?, ?, ?, ?)");
  int position = 0;
  for (const Samples& series : record.samples) {
    insert.reset();
    const std::string bytes = encode_samples(series.values);
    insert.bind(1, id);
    insert.bind(2, position++);
    insert.bind(3, series.name);
    insert.bind(4, static_cast<int64_t>(series.values.size()));
    insert.bind(5, kSamplesFormat);
    insert.bind(6, bytes.data(), static_cast<int>(bytes.size()));
    insert.exec();
  }
}

// Nothing but '/' and unreserved characters stays as it is in a URI.
std::string immutable_uri(const std::filesystem::path& path) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri + "?immutable=1";
}

Result<std::unique_ptr<SQLite::Database>> open_to_read(const std::filesystem::path& path,
                                                       bool immutable) {
  auto database = immutable
                      ? std::make_unique<SQLite::Database>(immutable_uri(path),
                                                           SQLite::OPEN_READONLY | SQLite::OPEN_URI)
                      : std::make_unique<SQLite::Database>(path.string(), SQLite::OPEN_READONLY);
  database->setBusyTimeout(kBusyMilliseconds);
  ASSAY_ASSIGN(const bool empty, inspect(*database, path));
  if (empty) {
    return Error{ErrorCode::kInvalid, "the database is empty: nothing was ever stored in it",
                 path.string()};
  }
  return database;
}

}  // namespace

Error store_error(const SQLite::Exception& exception, const std::filesystem::path& path) {
  const auto error = [&](ErrorCode code, const std::string& message, const char* hint = "") {
    return Error{code, message, path.string(), hint};
  };
  const std::string words = exception.what();
  switch (exception.getErrorCode()) {
    case SQLITE_FULL:
      return error(ErrorCode::kIo, "the disk is full; what was stored before is intact",
                   "free some space, then run the same command with --resume");
    case SQLITE_NOTADB:
      return error(ErrorCode::kInvalid, "the file is not a database", kElsewhere);
    case SQLITE_CORRUPT:
      return error(ErrorCode::kCorrupt, "the database is damaged: " + words,
                   "`sqlite3 FILE .recover` may save most of it");
    case SQLITE_CANTOPEN:
      return error(ErrorCode::kIo, "the database cannot be opened", kElsewhere);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return error(ErrorCode::kIo, "the database cannot be written", kElsewhere);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorCode::kIo, "the database has been locked by another process for too long");
    case SQLITE_NOMEM:
      return error(ErrorCode::kOutOfMemory, "no memory for the database");
    case SQLITE_IOERR:
      return error(ErrorCode::kIo, "the database cannot be read or written: " + words);
    default:
      return error(ErrorCode::kInternal, "database: " + words);
  }
}

Store::Store(std::filesystem::path path, std::unique_ptr<SQLite::Database> database)
    : path_(std::move(path)), database_(std::move(database)) {}
Store::Store(Store&& other) noexcept = default;
Store& Store::operator=(Store&& other) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{ErrorCode::kInvalid, "the database is a folder", path.string()};
  }
  return guarded(path, [&]() -> Result<Store> {
    auto database = std::make_unique<SQLite::Database>(
        path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database->setBusyTimeout(kBusyMilliseconds);
    ASSAY_ASSIGN([[maybe_unused]] const bool empty, inspect(*database, path));
    if (sqlite3_db_readonly(database->getHandle(), "main") == 1) {
      return Error{ErrorCode::kIo, "the database cannot be written", path.string(), kElsewhere};
    }
    use_write_ahead_log(*database);
    // FULL syncs once a record: also a power cut loses nothing finished.
    database->exec("PRAGMA synchronous = FULL");
    create_tables(*database);
    return Store(path, std::move(database));
  });
}

Result<Store> Store::open_read_only(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::kNotFound, "there is no database", path.string()};
  }
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{ErrorCode::kInvalid, "the database is a folder", path.string()};
  }
  return guarded(path, [&]() -> Result<Store> {
    // Reading beside writers needs shared memory next to the file; on a read-only medium there is
    // none and there can be no writer either.
    for (const bool immutable : {false, true}) {
      try {
        ASSAY_ASSIGN(auto database, open_to_read(path, immutable));
        return Store(path, std::move(database));
      } catch (const SQLite::Exception& exception) {
        const int code = exception.getErrorCode();
        if (immutable || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)) throw;
      }
    }
    return Error{ErrorCode::kIo, "the database cannot be read", path.string()};
  });
}

Result<int64_t> Store::append(const Record& record) {
  return guarded(path_, [&]() -> Result<int64_t> {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    const int64_t id = insert_record(*database_, record);
    insert_metrics(*database_, id, record);
    insert_samples(*database_, id, record);
    transaction.commit();
    return id;
  });
}

Result<std::string> Store::put_environment(const Json& environment) {
  return guarded(path_, [&]() -> Result<std::string> {
    const std::string document = text_of(environment);
    const std::string id = short_digest(sha256_hex(document));
    SQLite::Statement insert(*database_,
                             "INSERT OR IGNORE INTO environments (id, document) VALUES (?, ?)");
    insert.bind(1, id);
    insert.bind(2, document);
    insert.exec();
    return id;
  });
}

Result<void> Store::start_run(const Run& run) {
  return guarded(path_, [&]() -> Result<void> {
    SQLite::Statement insert(*database_,
                             "INSERT OR IGNORE INTO runs (run_id, command, started_unix_ms)"
                             " VALUES (?, ?, ?)");
    insert.bind(1, run.run_id);
    insert.bind(2, run.command);
    insert.bind(3, static_cast<int64_t>(run.started_at.count()));
    insert.exec();
    return {};
  });
}

}  // namespace assay

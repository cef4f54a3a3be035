// SPDX-License-Identifier: Apache-2.0
//
// Store: records in one SQLite file (WAL; one transaction a record). What append() has returned is
// on disk: killing the process or filling the disk loses nothing finished. Several processes may
// write at once: a writer waits up to 30 s for the others. One Store belongs to one thread at a
// time. docs/records.md describes the tables; `sqlite3 assay.db 'select * from train'` works too:
// every measuring command has a view with the fields of its schema.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "record/case.h"
#include "record/record.h"

namespace SQLite {
class Database;
}

namespace assay {

// One invocation of a measuring command.
struct Run {
  std::string run_id;
  std::string command;  // the command line
  std::chrono::milliseconds started_at{0};
};

// Which records; every condition that is given must hold.
struct RecordQuery {
  std::optional<std::string> run_id = {};
  std::optional<std::string> activity = {};
  std::optional<std::string> workload = {};
  std::optional<std::string> model = {};
  std::optional<std::string> case_text = {};
  std::optional<std::string> digest = {};
  std::optional<Status> status = {};
  bool with_samples = true;  // without them a query costs a tenth
};

class Store {
 public:
  // Opens for writing and creates what is missing. kIo: the path cannot be written; kInvalid: the
  // file is no database, another program's, or of a newer schema; kCorrupt: it is damaged.
  static Result<Store> open(const std::filesystem::path& path);
  // Opens an existing database, also on a read-only medium; kNotFound when there is none.
  static Result<Store> open_read_only(const std::filesystem::path& path);
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  // Its id. On an error (kIo: "disk is full" ...) the database is as before.
  Result<int64_t> append(const Record& record);
  // The id of the environment: a hash of its text; storing one twice is free.
  Result<std::string> put_environment(const Json& environment);
  // Known runs are left as they are (--resume starts the same run again).
  Result<void> start_run(const Run& run);

  // Ordered by id, that is by time of append.
  Result<std::vector<Record>> query(const RecordQuery& query) const;
  Result<Record> load(int64_t id) const;
  Result<Json> environment(std::string_view id) const;
  // Ordered by start.
  Result<std::vector<Run>> runs() const;
  // The newest run that has records.
  Result<std::optional<std::string>> latest_run() const;

  // --resume: the newest finished record of this case, within the run if one is given. A digest
  // that is not empty must be equal. Finished are measured, noisy, untrusted, short-of-target and
  // unsupported; what was skipped, failed, crashed or timed out is tried again.
  Result<std::optional<Record>> find_finished(
      const Case& measured_case, std::string_view digest,
      const std::optional<std::string>& run_id = std::nullopt) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  Store(std::filesystem::path path, std::unique_ptr<SQLite::Database> database);

  std::filesystem::path path_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace assay

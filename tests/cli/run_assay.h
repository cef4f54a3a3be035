// SPDX-License-Identifier: Apache-2.0
//
// The built program, run as a user would, in a folder of its own; data sets are prepared once for
// all tests. Engines without a framework only, so the same tests run under the sanitizers.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/process.h"
#include "base/scratch_folder.h"
#include "record/record.h"

namespace assay::cli {

struct Finished {
  int code = 0;
  int signal = 0;
  std::string out;
  std::string err;  // its last 8 KiB
};

// A run in progress.
class RunningAssay {
 public:
  RunningAssay(const std::filesystem::path& folder, std::vector<std::string> arguments,
               const std::map<std::string, std::string>& environment = {});
  pid_t pid() const { return child_.pid(); }
  void signal(int number) const;
  // Waits for its worker process to exist; 0 when there is none in time.
  pid_t worker() const;
  Finished finish();  // waits for its end, at most two minutes
  std::string err() { return child_.stderr_tail(); }

 private:
  ChildProcess child_;
};

Finished run_assay(const std::filesystem::path& folder, std::vector<std::string> arguments,
                   const std::map<std::string, std::string>& environment = {});
// Through the shell; $ASSAY is the program.
Finished run_shell(const std::filesystem::path& folder, const std::string& script);

// The records of a database, oldest first; none when it cannot be read.
std::vector<Record> records_of(const std::filesystem::path& database);

// Looks again and again until `condition` holds; false when it does not within a minute.
bool eventually(const std::function<bool()>& condition);
bool process_lives(pid_t pid);

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// Supervisor: cases in, records out. Each case runs in a worker process (one per engine, device and
// threads; reused while it stays healthy); a crash, hang, kill or refusal of a worker becomes a
// record and the rest goes on. Every finished record is stored before the next case starts.
// Not thread-safe: one supervisor, one thread, which must outlive the workers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "record/case.h"
#include "record/record.h"
#include "study/protocol.h"

namespace assay {

class Store;
struct Outcome;

// Where a run stands, for whoever watches.
struct SupervisorEvent {
  size_t index = 0;  // of the case, 0-based
  size_t total = 0;
  const Case* current = nullptr;
  Progress progress;               // empty when the case begins or ends
  const Record* record = nullptr;  // the case has ended so; null while it runs
  bool resumed = false;            // the record was there before
};

struct SupervisorOptions {
  std::string run_id;
  std::string environment_id;
  std::string code_version;
  std::optional<double> timeout_s;    // per case
  std::optional<Bytes> memory_limit;  // default: 90 % of what the machine has
  bool resume = false;                // cases that this run has finished are not run again
  StoppingOptions stopping;
  std::filesystem::path checkpoint_folder;
  std::string checkpoint;    // weights for inference, when the user names them
  std::string mllog;         // where training writes MLPerf's log; "-seedN" is added for several
  std::string organisation;  // who runs it, for that log
  std::optional<double> price_per_hour_usd;  // of the machine
  // The budget: cases that would start later than so long after the start of run() are skipped with
  // `budget_name` in their reason, and a running one is ended at 1.5 times the budget.
  std::optional<double> budget_s;
  std::string budget_name;
  std::map<std::string, std::string> facts;  // added to every record: "part" of a study
  std::vector<std::string> worker_command;   // default: this executable, "worker"
  int wake_fd = -1;                          // readable when the user wants to stop
  std::function<void(const SupervisorEvent&)> on_event;
};

// The records of the cases that are finished, in the order of the cases; `cancelled` when the user
// stopped before the last.
struct SupervisorResult {
  std::vector<Record> records;
  bool cancelled = false;
};

class Supervisor {
 public:
  Supervisor(Store& store, const Clock& clock, SupervisorOptions options);
  ~Supervisor();
  // Fails only when the store does or no worker can be started at all.
  Result<SupervisorResult> run(std::span<const Case> cases);

 private:
  class Workers;
  // Nothing when the user stopped.
  Result<std::optional<Record>> run_case(const Case& wanted, SupervisorEvent event,
                                         double elapsed_s);
  Outcome run_in_worker(const Case& wanted, const SupervisorEvent& event, double elapsed_s);

  Store& store_;
  const Clock& clock_;
  SupervisorOptions options_;
  std::unique_ptr<Workers> workers_;
};

// How an error of a case reads as a status: kUnsupported is `unsupported`, kNotFound (a data set
// that is not here) `skipped`, and so on.
Status status_of(ErrorCode code);

}  // namespace assay

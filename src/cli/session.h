// SPDX-License-Identifier: Apache-2.0
//
// Session: one invocation of a measuring command: its database and run, the interrupt, progress,
// the rows at the end and the exit code. Errors of the user or of the store are UserErrors. One at
// a time in a process.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "record/formats.h"
#include "record/store.h"
#include "study/interrupt.h"
#include "study/supervisor.h"

namespace assay::cli {

// One group of cases with a time budget and a stopping rule of its own.
struct CaseGroup {
  std::span<const Case> cases;
  StoppingOptions stopping;
  std::optional<double> budget_s = std::nullopt;
  std::string part = "";  // of a study
};

class Session {
 public:
  // Opens the database, registers the run or finds the one to resume, stores the environment.
  // `command` names the schema of the rows.
  Session(const Invocation& invocation, std::string command);

  // Runs the cases; rows of finished ones are kept for finish(). False when the user stopped.
  bool run(const CaseGroup& group);
  // Prints the rows (or says that the user stopped, and how to go on) and gives the exit code.
  int finish();

  bool interrupted() const { return interrupt_.requested(); }
  const std::vector<Record>& records() const { return records_; }
  const std::string& run_id() const { return run_id_; }
  Store& store() { return store_; }

 private:
  SupervisorOptions supervisor_options(const CaseGroup& group);
  void take(const SupervisorEvent& event);
  int exit_code() const;

  const Invocation& invocation_;
  std::string command_;
  SteadyClock clock_;
  FormatOptions format_;
  Store store_;
  std::string run_id_;
  std::string environment_id_;
  Interrupt interrupt_;
  ProgressLine progress_;
  std::vector<Record> records_;
  size_t planned_ = 0;
};

// --repeat, --min-time, --max-time, --max-noise over `defaults`.
StoppingOptions stopping_options(const Invocation& invocation, StoppingOptions defaults = {});

// Runs cases under one session, or lists them for --dry-run; what `infer`, `train` and `sweep` do.
int measure_cases(const Invocation& invocation, const std::string& command,
                  std::vector<Case> cases);

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// run_load: one load test, accuracy or performance, from settings to report. Memory of a run: 20 to
// 36 bytes a sample and what the system keeps. Blocks; the calling thread issues the queries.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "serve/issue.h"
#include "serve/plan.h"
#include "serve/settings.h"
#include "serve/system.h"
#include "serve/verdict.h"

namespace assay {

// Something to tell about a run that numbers do not.
struct LoadRemark {
  enum class Kind { kNote, kWarning, kError };
  Kind kind = Kind::kNote;
  std::string text;
};

// What was done with one loaded set.
struct SetReport {
  LoadedSet set;
  int64_t planned_queries = 0;
  int64_t samples_per_query = 0;
  Nanoseconds planned_duration{0};
  int64_t issued_queries = 0;
};

struct LoggedResponse {
  uint32_t sequence = 0;  // of the sample in the run
  uint32_t index = 0;     // of the library
  std::string data;
};

struct LoadReport {
  LoadSettings asked;
  EffectiveSettings effective;
  std::string system;
  std::string library;
  int64_t library_total = 0;
  int64_t library_performance = 0;
  std::vector<std::string> unofficial;      // why it is no official run; empty: nothing known
  std::chrono::milliseconds started_at{0};  // unix time of the first issue
  std::chrono::milliseconds ended_at{0};
  std::vector<SetReport> sets;
  std::vector<LoadRemark> remarks;
  std::vector<LoggedResponse> responses;  // accuracy: all; performance: a share, as asked for

  // Performance runs only.
  LoadTimes times;
  std::vector<int64_t> issue_delay_ns;  // server
  int64_t unanswered = 0;               // samples dropped when the run was given up
  std::optional<LoadVerdict> verdict;   // none when nothing was answered
  bool valid() const { return verdict && verdict->valid && unanswered == 0; }
};

// kInvalid for settings no run can follow; kInternal when the system loses samples or answers
// twice; its own error when it fails; kCancelled. Modes kAccuracy and kPerformance.
Result<LoadReport> run_load(SystemUnderTest& system, SampleLibrary& library,
                            const LoadSettings& settings, const Clock& clock,
                            const LoadOptions& options = {});

// The highest rate of a server that is still valid. The rate grows by its step until a run fails,
// then the two last are bisected to the decimals asked for. kInvalid, with the reasons, when
// already the rate asked for fails.
struct PeakTry {
  double rate = 0;
  bool valid = false;
  LoadVerdict verdict;
};
struct Peak {
  double rate = 0;
  std::vector<PeakTry> tries;
  LoadReport best;
};
Result<Peak> find_peak(SystemUnderTest& system, SampleLibrary& library,
                       const LoadSettings& settings, const Clock& clock,
                       const LoadOptions& options = {});

}  // namespace assay

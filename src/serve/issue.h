// SPDX-License-Identifier: Apache-2.0
//
// Issues the queries of one loaded set: the timed part of a load test. The server scenario sleeps
// until shortly before an arrival and spins the rest, so that a query leaves within microseconds of
// its time; what it is late by is recorded. Between queries nothing is allocated, locked or written
// out. A server run that cannot become valid any more, because more queries are already too late
// than early stopping would bear, is given up: a rate far beyond capacity ends in bounded time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "serve/plan.h"
#include "serve/settings.h"
#include "serve/system.h"

namespace assay {

struct LoadOptions {
  Nanoseconds spin{60'000};  // the last part of a wait is not slept; 0 with a clock that is told
  bool abandon_hopeless = true;          // as said above
  std::function<bool()> cancelled = {};  // asked before every query
};

struct IssueJob {
  SystemUnderTest& system;
  Completions& done;
  const QueryPlan& plan;
  const EffectiveSettings& settings;
  bool coalesce = false;
  uint32_t first_id = 0;
  const Clock& clock;
  const LoadOptions& options;
};

struct Issued {
  Nanoseconds start{0};               // by the clock
  std::vector<int64_t> scheduled_ns;  // of every query issued, from the start
  std::vector<int64_t> delay_ns;      // server: issued so much later
  Nanoseconds last_issue{0};          // from the start
  std::string ended_early;            // why, where a limit was hit or the queries ran out
  bool abandoned = false;
};

// Returns when everything is answered or dropped. An error of the system, or kCancelled.
Result<Issued> issue_queries(const IssueJob& job);

// Sleeps and spins until that time of the clock.
void wait_until(const Clock& clock, Nanoseconds time, Nanoseconds spin);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Time to target when some runs never got there: those are censored at the time they were stopped,
// not dropped. Product-limit estimate (Kaplan and Meier, JASA 53, 1958) with Greenwood's variance.
// Pure functions, O(n log n).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "record/record.h"

namespace assay {

struct Observation {
  double time = 0;
  bool reached = true;  // false: censored, still short of target at this time
};

// After `time`, the share `survival` of runs is still short of target.
struct SurvivalStep {
  double time = 0;
  int64_t at_risk = 0;
  int64_t reached = 0;
  double survival = 1;
  double stderr_survival = 0;  // Greenwood
  Interval interval;           // on log(-log S), so within [0, 1]; "greenwood-log-log"
};

// A quantity that may lie beyond the last observation: then it is missing.
struct CensoredEstimate {
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  double confidence = 0.95;
};

struct RestrictedMean {
  double value = 0;    // area under the curve up to `horizon`
  double horizon = 0;  // the largest observed time
  double standard_error = 0;
  Interval interval;  // normal; "greenwood"
};

struct SurvivalCurve {
  std::vector<SurvivalStep> steps;  // one for each time at which a run reached the target
  // The first time by which half of the runs have reached it; its bounds are where the curve's
  // interval crosses one half (Brookmeyer and Crowley, 1982).
  CensoredEstimate median;
  RestrictedMean restricted_mean;
  int64_t observations = 0;
  int64_t censored = 0;
};

// kInvalid when there is no observation or a time is negative or not finite.
Result<SurvivalCurve> kaplan_meier(std::span<const Observation> observations,
                                   double confidence = 0.95);

}  // namespace assay

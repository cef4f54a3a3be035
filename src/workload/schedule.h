// SPDX-License-Identifier: Apache-2.0
//
// Learning-rate schedules: pure functions of the step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

enum class ScheduleKind : uint8_t { kConstant, kLinear, kCosine, kPolynomial, kStep };
std::string_view schedule_name(ScheduleKind kind);
Result<ScheduleKind> parse_schedule(std::string_view name);

// Linear warm-up from rate/warmup_steps over the first `warmup_fraction` of all steps, then the
// decay.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  double rate = 0.1;  // the peak
  double end_rate = 0;
  double warmup_fraction = 0;      // of total_steps
  double power = 1;                // kPolynomial
  std::vector<double> boundaries;  // kStep: fractions of total_steps
  double factor = 0.1;             // kStep: multiplier at each boundary

  // The rate of 0-based `step` of `total_steps`.
  double at(int64_t step, int64_t total_steps) const;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "workload/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::array<ScheduleKind, 5> kKinds = {ScheduleKind::kConstant, ScheduleKind::kLinear,
                                                ScheduleKind::kCosine, ScheduleKind::kPolynomial,
                                                ScheduleKind::kStep};

}  // namespace

std::string_view schedule_name(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kConstant:
      return "constant";
    case ScheduleKind::kLinear:
      return "linear";
    case ScheduleKind::kCosine:
      return "cosine";
    case ScheduleKind::kPolynomial:
      return "polynomial";
    case ScheduleKind::kStep:
      break;
  }
  return "step";
}

Result<ScheduleKind> parse_schedule(std::string_view name) {
  std::vector<std::string> names;
  for (const ScheduleKind kind : kKinds) {
    if (schedule_name(kind) == name) return kind;
    names.emplace_back(schedule_name(kind));
  }
  const auto near = nearest_name(name, names);
  return Error{ErrorCode::kInvalid, "no schedule is called '" + std::string(name) + "'", "",
               near ? "did you mean '" + *near + "'?" : "there are " + join(names, ", ")};
}

double Schedule::at(int64_t step, int64_t total_steps) const {
  const double total = static_cast<double>(std::max<int64_t>(1, total_steps));
  const double warmup = std::floor(warmup_fraction * total);
  const double position = static_cast<double>(step);
  if (position < warmup) return rate * (position + 1) / warmup;
  // 0 at the peak, 1 after the last step.
  const double progress = std::clamp((position - warmup) / std::max(1.0, total - warmup), 0.0, 1.0);
  switch (kind) {
    case ScheduleKind::kConstant:
      return rate;
    case ScheduleKind::kLinear:
      return end_rate + (rate - end_rate) * (1 - progress);
    case ScheduleKind::kCosine:
      return end_rate + (rate - end_rate) * (1 + std::cos(std::numbers::pi * progress)) / 2;
    case ScheduleKind::kPolynomial:
      return end_rate + (rate - end_rate) * std::pow(1 - progress, power);
    case ScheduleKind::kStep:
      break;
  }
  double stepped = rate;
  for (const double boundary : boundaries) {
    if (position >= std::round(boundary * total)) stepped *= factor;
  }
  return stepped;
}

}  // namespace assay

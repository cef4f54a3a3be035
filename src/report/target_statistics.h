// SPDX-License-Identifier: Apache-2.0
//
// What a handful of seeds says about the time to target. docs/method/time-to-target.md says why
// each is there and which interval it may have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report_data.h"

namespace assay {

struct TargetStatistic {
  std::string name;  // "median", "mean", "olympic-mean", "restricted-mean" ...
  std::string label;
  std::string unit;  // "s", "share", ""
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  std::string method;   // of the interval
  std::string missing;  // why there is no value
};

// The median comes first. With censored runs it is Kaplan and Meier's, and a plain mean is refused.
std::vector<TargetStatistic> target_statistics(const TrainingGroup& group);

}  // namespace assay

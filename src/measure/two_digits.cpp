// SPDX-License-Identifier: Apache-2.0
#include "measure/two_digits.h"

#include <cmath>

#include <fmt/format.h>

namespace assay {

std::string two_digits(double value) {
  return std::fabs(value) >= 9.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace assay {
namespace {

int decimals_for(double magnitude) {
  // The thresholds are where rounding would add a digit: 9.995 must become "10.0", not "10.00".
  if (magnitude < 9.995) return 2;
  return magnitude < 99.95 ? 1 : 0;
}

// Three significant digits in the largest unit that keeps the number at least 1.
std::string scaled(double value, double step, std::span<const std::string_view> units) {
  double magnitude = std::fabs(value);
  size_t unit = 0;
  while (magnitude >= step - 0.5 && unit + 1 < units.size()) {
    magnitude /= step;
    ++unit;
  }
  const bool whole = unit == 0 && magnitude == std::floor(magnitude);
  const double rounded = std::copysign(magnitude, value);
  std::string text = magnitude < 0.1 && !whole
                         ? fmt::format("{:.3g}", rounded)
                         : fmt::format("{:.{}f}", rounded, whole ? 0 : decimals_for(magnitude));
  if (!units[unit].empty()) fmt::format_to(std::back_inserter(text), " {}", units[unit]);
  return text;
}

}  // namespace

std::string human_bytes(Bytes bytes) {
  static constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                             "TiB", "PiB", "EiB"};
  return scaled(static_cast<double>(bytes.count), 1024, kUnits);
}

std::string human_count(double count) {
  static constexpr std::array<std::string_view, 7> kUnits = {"", "K", "M", "G", "T", "P", "E"};
  if (!std::isfinite(count)) return fmt::format("{}", count);
  return scaled(count, 1000, kUnits);
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{} s", seconds);
  if (seconds < 0) return "-" + human_seconds(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds >= 59.95) {
    const auto whole = static_cast<int64_t>(std::llround(seconds));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    const int64_t minutes = (whole + 30) / 60;
    return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  }
  static constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  return scaled(seconds * 1e9, 1000, kUnits);
}

}  // namespace assay

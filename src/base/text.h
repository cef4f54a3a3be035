// SPDX-License-Identifier: Apache-2.0
//
// Small text operations used everywhere. All functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);

// The candidate nearest to `name` by Damerau-Levenshtein distance, if it is near enough to be a
// slip of the finger (distance at most a third of the length, at least 1).
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

// Whole-string conversions: trailing characters, overflow, NaN are errors (code kInvalid).
Result<int64_t> parse_int(std::string_view text);
Result<uint64_t> parse_uint(std::string_view text);
Result<double> parse_double(std::string_view text);

// Shortest text that reads back to the same double.
std::string shortest(double value);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace assay {
namespace {

// Optimal string alignment: edits and swaps of neighbours, no substring edited twice.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_back(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
    std::swap(two_back, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

Error number_error(std::string_view text, std::string_view what) {
  return {ErrorCode::kInvalid, "'" + std::string(text) + "' is not " + std::string(what), ""};
}

template <class T>
Result<T> parse_whole(std::string_view text, std::string_view what) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    return Error{ErrorCode::kInvalid, "'" + std::string(text) + "' is out of range", ""};
  }
  if (error != std::errc() || end != digits.data() + digits.size()) return number_error(text, what);
  return value;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator, start)) {
    parts.emplace_back(text.substr(start, at - start));
    start = at + 1;
  }
  parts.emplace_back(text.substr(start));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  const size_t allowed = std::max<size_t>(1, name.size() / 3);
  size_t best = allowed + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(candidate.size(), name.size());
    if (longer - std::min(candidate.size(), name.size()) >= best) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < longer) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

Result<int64_t> parse_int(std::string_view text) {
  return parse_whole<int64_t>(text, "a whole number");
}

Result<uint64_t> parse_uint(std::string_view text) {
  return parse_whole<uint64_t>(text, "a whole number of at least 0");
}

Result<double> parse_double(std::string_view text) {
  ASSAY_ASSIGN(const double value, parse_whole<double>(text, "a number"));
  if (!std::isfinite(value)) return number_error(text, "a finite number");
  return value;
}

std::string shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  ASSAY_ASSERT(error == std::errc(), "32 characters hold every double");
  return {buffer, end};
}

}  // namespace assay

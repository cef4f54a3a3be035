// SPDX-License-Identifier: Apache-2.0
#include "study/sweep.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/random.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr size_t kMostValues = 100'000;

Error too_many(std::string_view text) {
  return {ErrorCode::kInvalid, fmt::format("'{}' makes more than {} values", text, kMostValues)};
}

// "first-last" or "first-last*factor"; nothing when `part` is not of that form.
Result<std::vector<std::string>> expand_range(std::string_view part, size_t dash) {
  const size_t star = part.find('*', dash);
  const std::string_view last_text =
      part.substr(dash + 1, star == std::string_view::npos ? star : star - dash - 1);
  const auto invalid = [&](std::string_view why) {
    return Error{ErrorCode::kInvalid, fmt::format("'{}' is no range: {}", part, why), "",
                 "a range is 1-8, or with a factor 1-64*2 (1, 2, 4 ... 64)"};
  };
  const Result<int64_t> first = parse_int(part.substr(0, dash));
  const Result<int64_t> last = parse_int(last_text);
  if (!first.ok() || !last.ok()) return invalid("its ends must be whole numbers");
  if (*last < *first) return invalid("it ends before it begins");
  int64_t factor = 0;
  if (star != std::string_view::npos) {
    const Result<int64_t> given = parse_int(part.substr(star + 1));
    if (!given.ok() || *given < 2) return invalid("its factor must be at least 2");
    if (*first < 1) return invalid("with a factor it must begin above 0");
    factor = *given;
  }
  std::vector<std::string> values;
  for (int64_t value = *first; value <= *last;) {
    values.push_back(std::to_string(value));
    if (values.size() > kMostValues) return too_many(part);
    if (value == *last) break;
    if (factor == 0) {
      ++value;
    } else {
      if (value > std::numeric_limits<int64_t>::max() / factor) break;
      value *= factor;
    }
  }
  return values;
}

}  // namespace

Result<std::vector<std::string>> expand_values(std::string_view text, CaseValueType type) {
  std::vector<std::string> values;
  const bool ranges = type == CaseValueType::kInteger || type == CaseValueType::kUnsigned;
  for (const std::string& part : split(text, ',')) {
    const std::string_view trimmed = trim(part);
    if (trimmed.empty())
      return Error{ErrorCode::kInvalid, fmt::format("'{}' has an empty value", text)};
    const size_t dash = trimmed.find('-', 1);  // a leading one is a sign
    if (ranges && dash != std::string_view::npos) {
      ASSAY_ASSIGN(const std::vector<std::string> range, expand_range(trimmed, dash));
      values.insert(values.end(), range.begin(), range.end());
    } else {
      values.emplace_back(trimmed);
    }
    if (values.size() > kMostValues) return too_many(text);
  }
  return values;
}

void Sweep::set(std::string_view key, std::vector<std::string> values) {
  for (auto& [name, present] : axes)
    if (name == key) {
      present = std::move(values);
      return;
    }
  axes.emplace_back(key, std::move(values));
}

Result<std::vector<Case>> expand(const Sweep& sweep) {
  std::vector<Case> cases{Case()};
  for (const auto& [key, values] : sweep.axes) {
    if (values.empty()) return Error{ErrorCode::kInvalid, "no values", key};
    if (cases.size() > kMostValues / values.size())
      return Error{ErrorCode::kInvalid,
                   fmt::format("the sweep has more than {} cases", kMostValues)};
    std::vector<Case> wider;
    wider.reserve(cases.size() * values.size());
    for (const Case& one : cases)
      for (const std::string& value : values) {
        ASSAY_ASSIGN(Case extended, one.with(key, value));
        wider.push_back(std::move(extended));
      }
    cases = std::move(wider);
  }
  std::set<std::string> seen;
  std::erase_if(cases, [&](const Case& one) { return !seen.insert(one.text()).second; });
  return cases;
}

void shuffle_cases(std::vector<Case>& cases, uint64_t order_seed) {
  RandomStream stream(RandomKey(order_seed).derive("case order"));
  stream.shuffle(std::span<Case>(cases));
}

Result<CaseValueType> case_key_type(std::string_view key) {
  if (key.starts_with("set.")) return CaseValueType::kText;
  if (const CaseKey* known = find_case_key(key)) return known->type;
  std::vector<std::string> names;
  for (const CaseKey& known : case_keys()) names.push_back(known.name);
  const auto nearest = nearest_name(key, names);
  return Error{ErrorCode::kInvalid, fmt::format("unknown case key '{}'", key), "",
               nearest ? fmt::format("did you mean '{}'?", *nearest)
                       : fmt::format("the keys are: {}", join(names, ", "))};
}

}  // namespace assay

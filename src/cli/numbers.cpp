// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "record/case.h"

namespace assay::cli {

NumberRule whole(int64_t low, int64_t high) {
  return {NumberKind::kWhole, static_cast<double>(low), static_cast<double>(high)};
}

NumberRule above_zero(double high) { return {NumberKind::kDecimal, 0, high}; }

NumberRule any_seed() { return {NumberKind::kSeed, 0, 0}; }

NumberRule rule_of_case_key(std::string_view key) {
  const CaseKey* known = find_case_key(key);
  ASSAY_ASSERT(known != nullptr, key);
  switch (known->type) {
    case CaseValueType::kInteger: {
      const double low = known->default_value == "0" ? 1 : known->minimum;
      return {NumberKind::kWhole, low, known->maximum};
    }
    case CaseValueType::kUnsigned:
      return any_seed();
    case CaseValueType::kNumber:
      return above_zero(known->maximum);
    case CaseValueType::kText:
    case CaseValueType::kBoolean:
      break;
  }
  ASSAY_ASSERT(false, "not a number: " + known->name);
  return {};
}

bool allows(const NumberRule& rule, std::string_view text) {
  switch (rule.kind) {
    case NumberKind::kWhole: {
      const Result<int64_t> value = parse_int(text);
      return value.ok() && static_cast<double>(*value) >= rule.low &&
             static_cast<double>(*value) <= rule.high;
    }
    case NumberKind::kSeed:
      return parse_uint(text).ok();
    case NumberKind::kDecimal: {
      const Result<double> value = parse_double(text);
      return value.ok() && *value > rule.low && *value <= rule.high;
    }
  }
  return false;
}

std::string wanted_text(const NumberRule& rule) {
  switch (rule.kind) {
    case NumberKind::kWhole:
      return fmt::format("a whole number from {:.0f} to {:.0f}", rule.low, rule.high);
    case NumberKind::kSeed:
      return "a whole number from 0 to 2^64 - 1";
    case NumberKind::kDecimal:
      return fmt::format("a number above {} and up to {:.0f}", rule.low, rule.high);
  }
  return "";
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// Case: one immutable point of measurement, printable and parseable.
//   v1:activity=train workload=image-classification variant=small engine=torch seed=3
// Only keys that differ from the version's frozen defaults are printed, in the table's order;
// parse(text(c)) == c. Values with blanks, '%' or control characters are percent-encoded.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

enum class CaseValueType : uint8_t { kText, kInteger, kNumber, kBoolean };

// One key a case may have. Beside these, any "set.NAME.NAME=value" is a recipe override.
struct CaseKey {
  std::string name;
  CaseValueType type = CaseValueType::kText;
  std::string default_value;  // frozen for v1
  std::string doc;
};

std::span<const CaseKey> case_keys();

class Case {
 public:
  Case() = default;
  static Result<Case> parse(std::string_view text);
  std::string text() const;

  // The value, or the key's default. Asserts that the key is known.
  const std::string& get(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  // A copy with one key changed; kInvalid for an unknown key or a value of the wrong type.
  Result<Case> with(std::string_view key, std::string value) const;
  // "optimizer.rate" -> "0.1" for every set.* key, sorted.
  std::map<std::string, std::string> overrides() const;
  bool operator==(const Case&) const = default;

 private:
  std::map<std::string, std::string, std::less<>> values_;  // non-default ones only
};

}  // namespace assay

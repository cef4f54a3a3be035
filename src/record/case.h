// SPDX-License-Identifier: Apache-2.0
//
// Case: one immutable point of measurement, printable and parseable.
//   v1:activity=train workload=image-classification seed=3
// Only keys that differ from the version's frozen defaults are printed, in the table's order, then
// the overrides sorted by name; parse(text(c)) == c. Values are kept in canonical form ("007" is
// "7"), so equal cases have equal texts. Bytes that would break a shell's single quotes or a line
// (blanks, control characters, quotes, '%', invalid UTF-8) are percent-encoded.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace assay {

// kUnsigned is a 64-bit seed; kInteger fits int64_t.
enum class CaseValueType : uint8_t { kText, kInteger, kUnsigned, kNumber, kBoolean };
std::string_view case_value_type_name(CaseValueType type);

// One key a case may have. Beside these, any "set.NAME.NAME=value" is a recipe override.
struct CaseKey {
  std::string name;
  CaseValueType type = CaseValueType::kText;
  std::string default_value;  // frozen for v1
  double minimum = 0;         // of integers and numbers, as is the next
  double maximum = 0;
  std::string doc;
};

// In the order of printing.
std::span<const CaseKey> case_keys();
// Null for an unknown name.
const CaseKey* find_case_key(std::string_view name);

// Immutable; safe to share between threads.
class Case {
 public:
  Case() = default;
  static Result<Case> parse(std::string_view text);
  std::string text() const;

  // The value, or the key's default ("" for an override that is not set). Asserts that the key is
  // known and, below, of that type.
  const std::string& get(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  uint64_t unsigned_integer(std::string_view key) const;
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

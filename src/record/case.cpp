// SPDX-License-Identifier: Apache-2.0
#include "record/case.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::string_view kVersion = "v1:";
constexpr std::string_view kOverride = "set.";
constexpr double kMost = 2147483647;  // of what is counted

const std::string& empty_text() {
  static const std::string text;
  return text;
}

// The length of the valid UTF-8 sequence that starts at text[at], or 0.
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool too_large = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

bool must_encode(unsigned char byte) {
  return byte <= 0x20 || byte == 0x7f || byte == '%' || byte == '\'' || byte == '"' ||
         byte == '\\' || byte == '`';
}

void append_encoded(std::string& out, std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto encode = [&](unsigned char byte) {
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  };
  for (size_t i = 0; i < value.size();) {
    const auto byte = static_cast<unsigned char>(value[i]);
    const size_t length = utf8_length(value, i);
    if (length == 0 || (length == 1 && must_encode(byte))) {
      encode(byte);
      ++i;
    } else {
      out += value.substr(i, length);
      i += length;
    }
  }
}

Result<std::string> decode(std::string_view text, std::string_view place) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
      return Error{ErrorCode::kInvalid, "'%' needs two hexadecimal digits", std::string(place)};
    }
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

// "set.optimizer.rate": dot-separated, non-empty names of letters, digits, '_' and '-'.
bool is_override(std::string_view key) {
  if (!key.starts_with(kOverride)) return false;
  bool name_is_empty = true;
  for (const char c : key.substr(kOverride.size())) {
    if (c == '.') {
      if (name_is_empty) return false;
      name_is_empty = true;
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      name_is_empty = false;
    } else {
      return false;
    }
  }
  return !name_is_empty;
}

Error invalid(std::string message, const CaseKey& key) {
  return Error{ErrorCode::kInvalid, std::move(message), "case key '" + key.name + "'"};
}

Result<std::string> within(const CaseKey& key, double value, std::string text) {
  if (value < key.minimum) return invalid("'" + text + "' is below " + shortest(key.minimum), key);
  if (value > key.maximum) return invalid("'" + text + "' is above " + shortest(key.maximum), key);
  return text;
}

Result<std::string> canonical_boolean(const CaseKey& key, const std::string& value) {
  if (value == "true" || value == "1") return std::string("true");
  if (value == "false" || value == "0") return std::string("false");
  return invalid("'" + value + "' is neither true nor false", key);
}

// The one spelling of a value, or why it is not a value of this key.
Result<std::string> canonical(const CaseKey& key, const std::string& value) {
  switch (key.type) {
    case CaseValueType::kText:
      if (value.empty() && !key.default_value.empty()) return invalid("is empty", key);
      return value;
    case CaseValueType::kInteger: {
      const Result<int64_t> number = parse_int(value);
      if (!number.ok()) return invalid("'" + value + "' is not an integer", key);
      return within(key, static_cast<double>(*number), std::to_string(*number));
    }
    case CaseValueType::kUnsigned: {
      const Result<uint64_t> number = parse_uint(value);
      if (!number.ok()) return invalid("'" + value + "' is not an unsigned 64-bit integer", key);
      return std::to_string(*number);
    }
    case CaseValueType::kNumber: {
      const Result<double> number = parse_double(value);
      if (!number.ok() || !std::isfinite(*number)) {
        return invalid("'" + value + "' is not a finite number", key);
      }
      return within(key, *number, shortest(*number == 0 ? 0.0 : *number));
    }
    case CaseValueType::kBoolean:
      return canonical_boolean(key, value);
  }
  return invalid("has no type", key);
}

Error unknown_key(std::string_view key) {
  std::vector<std::string> names;
  for (const CaseKey& known : case_keys()) names.push_back(known.name);
  std::string message = "unknown case key '" + std::string(key) + "'";
  if (const auto nearest = nearest_name(key, names)) message += ", did you mean '" + *nearest + "'";
  return Error{ErrorCode::kInvalid, std::move(message), "case"};
}

const CaseKey& typed_key(std::string_view name, CaseValueType type) {
  const CaseKey* key = find_case_key(name);
  ASSAY_ASSERT(key != nullptr, name);
  ASSAY_ASSERT(key->type == type, name);
  return *key;
}

}  // namespace

std::string_view case_value_type_name(CaseValueType type) {
  switch (type) {
    case CaseValueType::kText:
      return "text";
    case CaseValueType::kInteger:
      return "integer";
    case CaseValueType::kUnsigned:
      return "unsigned";
    case CaseValueType::kNumber:
      return "number";
    case CaseValueType::kBoolean:
      return "boolean";
  }
  return "";
}

std::span<const CaseKey> case_keys() {
  using enum CaseValueType;
  static const std::array<CaseKey, 16> keys = {{
      {"activity", kText, "", 0, 0, "what is done: train, infer, profile ... (always printed)"},
      {"workload", kText, "", 0, 0, "a name of workloads/"},
      {"model", kText, "", 0, 0, "a model of Assay, where no workload is meant"},
      {"file", kText, "", 0, 0, "an ONNX file, where neither is meant"},
      {"variant", kText, "small", 0, 0, "size of the workload or model"},
      {"engine", kText, "torch", 0, 0, "framework that executes the graph"},
      {"device", kText, "cpu", 0, 0, "device of the engine: cpu, cuda:0 ..."},
      {"precision", kText, "f32", 0, 0, "precision policy: f32, tf32, bf16, f16, int8"},
      {"batch", kInteger, "0", 0, kMost, "items a step or call; 0 = the recipe's"},
      {"threads", kInteger, "0", 0, 65536, "threads of the engine; 0 = every hardware thread"},
      {"replicas", kInteger, "1", 1, 65536, "data-parallel processes"},
      {"scenario", kText, "throughput", 0, 0, "how inference is loaded"},
      {"level", kInteger, "2", 0, 2,
       "optimisation level of the engine: 0 none ... 2 all that is safe"},
      {"seed", kUnsigned, "0", 0, 0, "key of every random draw"},
      {"steps", kInteger, "0", 0, kMost,
       "stop training after so many steps; 0 = train to the target"},
      {"epochs", kNumber, "0", 0, 1e6, "length of the schedule in epochs; 0 = the recipe's"},
  }};
  return keys;
}

const CaseKey* find_case_key(std::string_view name) {
  for (const CaseKey& key : case_keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

Result<Case> Case::parse(std::string_view text) {
  if (!text.starts_with(kVersion)) {
    return Error{ErrorCode::kInvalid, "a case starts with 'v1:'", "case"};
  }
  Case parsed;
  std::map<std::string, bool, std::less<>> seen;
  for (const std::string& word : split(text.substr(kVersion.size()), ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return Error{ErrorCode::kInvalid, "'" + word + "' is not key=value", "case"};
    }
    const std::string key = word.substr(0, equals);
    if (!seen.emplace(key, true).second) {
      return Error{ErrorCode::kInvalid, "case key '" + key + "' appears twice", "case"};
    }
    ASSAY_ASSIGN(std::string value,
                 decode(std::string_view(word).substr(equals + 1), "case key '" + key + "'"));
    ASSAY_ASSIGN(parsed, parsed.with(key, std::move(value)));
  }
  return parsed;
}

std::string Case::text() const {
  std::string out(kVersion);
  const auto append = [&out](std::string_view key, std::string_view value) {
    if (out.size() > kVersion.size()) out += ' ';
    out += key;
    out += '=';
    append_encoded(out, value);
  };
  for (const CaseKey& key : case_keys()) {
    if (const auto found = values_.find(key.name); found != values_.end()) {
      append(key.name, found->second);
    }
  }
  for (const auto& [key, value] : values_) {
    if (key.starts_with(kOverride)) append(key, value);
  }
  return out;
}

const std::string& Case::get(std::string_view key) const {
  if (const auto found = values_.find(key); found != values_.end()) return found->second;
  if (is_override(key)) return empty_text();
  const CaseKey* known = find_case_key(key);
  ASSAY_ASSERT(known != nullptr, key);
  return known->default_value;
}

// The stored values are canonical, so the conversions below cannot fail.
int64_t Case::integer(std::string_view key) const {
  return *parse_int(get(typed_key(key, CaseValueType::kInteger).name));
}

uint64_t Case::unsigned_integer(std::string_view key) const {
  return *parse_uint(get(typed_key(key, CaseValueType::kUnsigned).name));
}

double Case::number(std::string_view key) const {
  return *parse_double(get(typed_key(key, CaseValueType::kNumber).name));
}

bool Case::boolean(std::string_view key) const {
  return get(typed_key(key, CaseValueType::kBoolean).name) == "true";
}

Result<Case> Case::with(std::string_view key, std::string value) const {
  Case changed = *this;
  if (is_override(key)) {
    changed.values_.insert_or_assign(std::string(key), std::move(value));
    return changed;
  }
  const CaseKey* known = find_case_key(key);
  if (known == nullptr) return unknown_key(key);
  ASSAY_ASSIGN(std::string spelled, canonical(*known, value));
  if (spelled == known->default_value) {
    changed.values_.erase(known->name);
  } else {
    changed.values_.insert_or_assign(known->name, std::move(spelled));
  }
  return changed;
}

std::map<std::string, std::string> Case::overrides() const {
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : values_) {
    if (key.starts_with(kOverride)) found.emplace(key.substr(kOverride.size()), value);
  }
  return found;
}

}  // namespace assay

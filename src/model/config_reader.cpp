// SPDX-License-Identifier: Apache-2.0
#include "model/config_reader.h"

#include <algorithm>

#include "base/text.h"

namespace assay {

Result<ConfigReader> ConfigReader::open(const ModelEntry& entry, const ModelConfig& config) {
  std::vector<std::string> known;
  known.reserve(entry.keys.size());
  for (const ModelKey& key : entry.keys) known.push_back(key.name);
  for (const auto& [name, value] : config) {
    if (std::ranges::find(known, name) != known.end()) continue;
    Error error{ErrorCode::kInvalid, "model " + entry.name + " has no key '" + name + "'"};
    if (const auto near = nearest_name(name, known)) error.hint = "did you mean '" + *near + "'?";
    return error;
  }
  return ConfigReader(entry, config);
}

const std::string& ConfigReader::text(std::string_view key) const {
  if (const auto it = config_->find(std::string(key)); it != config_->end()) return it->second;
  const auto it = std::ranges::find(entry_->keys, key, &ModelKey::name);
  ASSAY_ASSERT(it != entry_->keys.end(), key);
  return it->default_value;
}

Error ConfigReader::bad(std::string_view key, const std::string& wanted) const {
  return Error{ErrorCode::kInvalid, "'" + text(key) + "' is not " + wanted,
               "model " + entry_->name + ", key " + std::string(key)};
}

Result<int64_t> ConfigReader::integer(std::string_view key, int64_t low, int64_t high) const {
  const auto value = parse_int(text(key));
  if (!value.ok() || *value < low || *value > high) {
    return bad(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *value;
}

Result<double> ConfigReader::number(std::string_view key, double low, double high) const {
  const auto value = parse_double(text(key));
  if (!value.ok() || !(*value >= low && *value <= high)) {
    return bad(key, "a number from " + shortest(low) + " to " + shortest(high));
  }
  return *value;
}

Result<bool> ConfigReader::boolean(std::string_view key) const {
  ASSAY_ASSIGN(const size_t index, choice(key, {"false", "true", "0", "1"}));
  return index % 2 == 1;
}

Result<std::vector<int64_t>> ConfigReader::integers(std::string_view key, char separator,
                                                    int64_t low, int64_t high) const {
  std::vector<int64_t> values;
  for (const std::string& part : split(text(key), separator)) {
    const auto value = parse_int(trim(part));
    if (!value.ok() || *value < low || *value > high) {
      return bad(key, "a list of whole numbers from " + std::to_string(low) + " to " +
                          std::to_string(high) + " separated by '" + separator + "'");
    }
    values.push_back(*value);
  }
  return values;
}

Result<size_t> ConfigReader::choice(std::string_view key,
                                    const std::vector<std::string>& choices) const {
  const auto it = std::ranges::find(choices, text(key));
  if (it == choices.end()) {
    Error error = bad(key, "one of " + join(choices, ", "));
    if (const auto near = nearest_name(text(key), choices)) {
      error.hint = "did you mean '" + *near + "'?";
    }
    return error;
  }
  return static_cast<size_t>(it - choices.begin());
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Reads typed values from a model's configuration, given keys before defaults, with errors that
// name the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/model.h"

namespace assay {

class ConfigReader {
 public:
  // kInvalid when `config` has a key that the entry has not, with the nearest one as hint.
  static Result<ConfigReader> open(const ModelEntry& entry, const ModelConfig& config);

  // Asserts that the entry declares the key.
  const std::string& text(std::string_view key) const;
  Result<int64_t> integer(std::string_view key, int64_t low, int64_t high) const;
  Result<double> number(std::string_view key, double low, double high) const;
  Result<bool> boolean(std::string_view key) const;  // true, false, 1, 0
  // Numbers separated by `separator`.
  Result<std::vector<int64_t>> integers(std::string_view key, char separator, int64_t low,
                                        int64_t high) const;
  // The position of the value among the choices.
  Result<size_t> choice(std::string_view key, const std::vector<std::string>& choices) const;

 private:
  ConfigReader(const ModelEntry& entry, const ModelConfig& config)
      : entry_(&entry), config_(&config) {}
  Error bad(std::string_view key, const std::string& wanted) const;

  const ModelEntry* entry_;
  const ModelConfig* config_;
};

}  // namespace assay

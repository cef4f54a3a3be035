// SPDX-License-Identifier: Apache-2.0
//
// LoadConfig: the configuration files of MLPerf Inference (mlperf.conf, user.conf, audit.config)
// and what they say for one model and scenario. A line is `model.Scenario.key = value`, `*` stands
// for any model or scenario, the more exact line wins (model and scenario, scenario, model,
// neither). Durations and latencies are in milliseconds, percentiles in percent. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "serve/settings.h"

namespace assay {

// Who wrote a file decides what it may set: only the rules set seeds and how responses are logged.
enum class ConfigSource { kRules, kUser, kAudit };

class LoadConfig {
 public:
  // kInvalid, naming the line, for text that is no configuration. `place` names the file.
  static Result<LoadConfig> parse(std::string_view text, std::string_view place,
                                  ConfigSource source);
  // The rules of v6.1 that bear on a run, as mlperf.conf states them.
  static const LoadConfig& rules_v6_1();

  // Sets what the file says for the scenario of `settings`; the rest stays. Returns what was not
  // obeyed and why. kInvalid for a key nobody knows (with the nearest) or a value out of range,
  // kUnsupported for a key we cannot follow.
  Result<std::vector<std::string>> apply(std::string_view model, LoadSettings& settings) const;

 private:
  struct Line {
    std::string model;     // or *
    std::string scenario;  // or *
    std::string key;
    double value = 0;
    uint64_t whole = 0;  // of a value that is an integer
    bool is_whole = false;
    int number = 0;  // in the file
  };
  std::string place_;
  ConfigSource source_ = ConfigSource::kUser;
  std::vector<Line> lines_;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "mlperf/load_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "mlperf/load_rules.h"

namespace assay {
namespace {

// A value as the file gives it.
struct Value {
  double real = 0;
  uint64_t whole = 0;
};

constexpr double kMostMilliseconds = 9e12;  // in nanoseconds still an int64_t

struct Key {
  std::string_view name;
  enum class Form { kReal, kWhole, kFlag, kUnsupportedFlag, kNoEffect } form;
  bool rules_only = false;  // obeyed from mlperf.conf alone
  std::function<void(LoadSettings&, Value)> set = nullptr;
};

Nanoseconds from_ms(Value value) { return Nanoseconds(static_cast<int64_t>(value.real * 1e6)); }
int64_t whole(Value value) { return static_cast<int64_t>(value.whole); }

void set_target_latency(LoadSettings& to, Value value) {
  switch (to.scenario) {
    case Scenario::kSingleStream:
      to.single_stream_expected_latency = from_ms(value);
      break;
    case Scenario::kMultiStream:
      to.multi_stream_expected_latency = from_ms(value);
      break;
    // LoadGen reads this one as a whole number; so do we, or limits would differ.
    case Scenario::kServer:
      to.server_target_latency = from_ms({std::floor(value.real)});
      break;
    case Scenario::kOffline:
      break;
  }
}

void set_percentile(LoadSettings& to, Value value) {
  switch (to.scenario) {
    case Scenario::kSingleStream:
      to.single_stream_percentile = value.real * 0.01;
      break;
    case Scenario::kMultiStream:
      to.multi_stream_percentile = value.real * 0.01;
      break;
    case Scenario::kServer:
      to.server_percentile = value.real * 0.01;
      break;
    case Scenario::kOffline:
      break;
  }
}

void set_rate(LoadSettings& to, Value value) {
  if (to.scenario == Scenario::kServer) to.server_target_qps = value.real;
  if (to.scenario == Scenario::kOffline) to.offline_expected_qps = value.real;
}

void set_mode(LoadSettings& to, Value value) {
  constexpr std::array<LoadMode, 4> kModes{LoadMode::kSubmission, LoadMode::kAccuracy,
                                           LoadMode::kPerformance, LoadMode::kFindPeak};
  to.mode = kModes[std::min<uint64_t>(value.whole, 3)];
}

template <auto Member>
Key count(std::string_view name, bool rules_only = false) {
  return {name, Key::Form::kWhole, rules_only,
          [](LoadSettings& to, Value value) { to.*Member = whole(value); }};
}
template <auto Member>
Key flag(std::string_view name) {
  return {name, Key::Form::kFlag, false,
          [](LoadSettings& to, Value value) { to.*Member = value.whole != 0; }};
}
template <auto Member>
Key seed(std::string_view name) {
  return {name, Key::Form::kWhole, true,
          [](LoadSettings& to, Value value) { to.*Member = value.whole; }};
}
template <auto Member>
Key duration(std::string_view name) {
  return {name, Key::Form::kWhole, false, [](LoadSettings& to, Value value) {
            to.*Member = std::chrono::milliseconds(whole(value));
          }};
}

const std::vector<Key>& keys() {
  using Form = Key::Form;
  using S = LoadSettings;
  static const std::vector<Key> kKeys{
      {"mode", Form::kWhole, false, set_mode},
      {"target_latency", Form::kReal, false, set_target_latency},
      {"target_latency_percentile", Form::kReal, false, set_percentile},
      {"target_qps", Form::kReal, false, set_rate},
      count<&S::multi_stream_samples_per_query>("samples_per_query"),
      flag<&S::server_coalesce_queries>("coalesce_queries"),
      count<&S::server_max_async_queries>("max_async_queries"),
      duration<&S::min_duration>("min_duration"),
      duration<&S::max_duration>("max_duration"),
      count<&S::min_query_count>("min_query_count"),
      count<&S::max_query_count>("max_query_count"),
      count<&S::performance_sample_count_override>("performance_sample_count_override"),
      count<&S::accuracy_sample_count_override>("accuracy_sample_count_override"),
      flag<&S::performance_issue_unique>("performance_issue_unique"),
      flag<&S::performance_issue_same>("performance_issue_same"),
      count<&S::performance_issue_same_index>("performance_issue_same_index"),
      flag<&S::sample_concatenate_permutation>("sample_concatenate_permutation"),
      seed<&S::qsl_rng_seed>("qsl_rng_seed"),
      seed<&S::sample_index_rng_seed>("sample_index_rng_seed"),
      seed<&S::schedule_rng_seed>("schedule_rng_seed"),
      seed<&S::accuracy_log_rng_seed>("accuracy_log_rng_seed"),
      {"accuracy_log_probability", Form::kReal, true,
       [](S& to, Value value) { to.accuracy_log_probability = value.real; }},
      count<&S::accuracy_log_sampling_target>("accuracy_log_sampling_target"),
      {"print_timestamps", Form::kNoEffect, false},
      {"test05", Form::kUnsupportedFlag, true},
      {"test05_qsl_rng_seed", Form::kNoEffect, true},
      {"test05_sample_index_rng_seed", Form::kNoEffect, true},
      {"test05_schedule_rng_seed", Form::kNoEffect, true},
      {"use_token_latencies", Form::kUnsupportedFlag, false},
      {"infer_token_latencies", Form::kUnsupportedFlag, false},
      {"ttft_latency", Form::kNoEffect, false},
      {"tpot_latency", Form::kNoEffect, false},
      {"token_latency_scaling_factor", Form::kNoEffect, false},
  };
  return kKeys;
}

const Key* key_named(std::string_view name) {
  for (const Key& key : keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

Error at_line(std::string_view place, int number, std::string message, std::string hint = "") {
  return {ErrorCode::kInvalid, std::move(message), fmt::format("{}:{}", place, number),
          std::move(hint)};
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> result;
  size_t i = 0;
  while (i < line.size()) {
    const size_t begin = line.find_first_not_of(" \t\r\v\f", i);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t\r\v\f", begin), line.size());
    result.emplace_back(line.substr(begin, end - begin));
    if (result.back().front() == '#') {
      result.pop_back();
      break;
    }
    i = end;
  }
  return result;
}

// An unsigned number as C reads one: decimal, 0x hexadecimal, 0 octal.
bool parse_whole(std::string_view text, uint64_t& value) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<LoadConfig> LoadConfig::parse(std::string_view text, std::string_view place,
                                     ConfigSource source) {
  LoadConfig config;
  config.place_ = place;
  config.source_ = source;
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> parts = words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (parts.empty()) continue;
    if (parts.size() != 3 || parts[1] != "=") {
      return at_line(place, number,
                     fmt::format("'{}' is not `model.Scenario.key = value`", join(parts, " ")),
                     "spaces belong around the =");
    }
    const size_t last = parts[0].rfind('.');
    const size_t first =
        last == std::string::npos || last == 0 ? last : parts[0].rfind('.', last - 1);
    if (first == std::string::npos || last == std::string::npos || first == last || first == 0) {
      return at_line(place, number, fmt::format("'{}' is not model.Scenario.key", parts[0]));
    }
    Line line;
    line.model = parts[0].substr(0, first);
    line.scenario = parts[0].substr(first + 1, last - first - 1);
    line.key = parts[0].substr(last + 1);
    line.number = number;
    line.is_whole = parse_whole(parts[2], line.whole);
    const auto real = parse_double(parts[2]);
    if (line.is_whole) {
      line.value = static_cast<double>(line.whole);
    } else if (real.ok()) {
      line.value = *real;
    } else {
      return at_line(place, number, fmt::format("'{}' is not a number", parts[2]));
    }
    if (line.scenario != "*" && !scenario_of(line.scenario)) {
      return at_line(place, number, fmt::format("there is no scenario '{}'", line.scenario),
                     "SingleStream, MultiStream, Server, Offline or *");
    }
    config.lines_.push_back(std::move(line));
  }
  return config;
}

const LoadConfig& LoadConfig::rules_v6_1() {
  static const LoadConfig kConfig = [] {
    auto config = parse(load_rules_v6_1(), "rules v6.1", ConfigSource::kRules);
    ASSAY_ASSERT(config.ok(), "the built-in rules can be read");
    return std::move(config).value();
  }();
  return kConfig;
}

Result<std::vector<std::string>> LoadConfig::apply(std::string_view model,
                                                   LoadSettings& settings) const {
  // The best line of each key; of equally exact ones the last.
  std::map<std::string, std::pair<int, const Line*>> best;
  for (const Line& line : lines_) {
    const bool own_model = line.model == model;
    const bool own_scenario = line.scenario == scenario_name(settings.scenario);
    if ((!own_model && line.model != "*") || (!own_scenario && line.scenario != "*")) continue;
    const int rank = (own_scenario ? 2 : 0) + (own_model ? 1 : 0);
    auto& entry = best[line.key];
    if (entry.second == nullptr || rank >= entry.first) entry = {rank, &line};
  }
  std::vector<std::string> notes;
  for (const auto& [name, entry] : best) {
    const Line& line = *entry.second;
    const Key* key = key_named(name);
    if (key == nullptr) {
      std::vector<std::string> names;
      for (const Key& known : keys()) names.emplace_back(known.name);
      const auto near = nearest_name(name, names);
      return at_line(place_, line.number, fmt::format("there is no key '{}'", name),
                     near ? fmt::format("did you mean {}?", *near) : "");
    }
    const auto where = fmt::format("{}:{}", place_, line.number);
    if (key->rules_only && source_ != ConfigSource::kRules) {
      notes.push_back(fmt::format("{} is obeyed from mlperf.conf only ({})", name, where));
      continue;
    }
    if (key->form == Key::Form::kUnsupportedFlag) {
      if (line.value == 0) continue;
      return Error{ErrorCode::kUnsupported, fmt::format("{} cannot be followed", name), where};
    }
    if (key->form == Key::Form::kNoEffect) {
      if (line.value != 0) notes.push_back(fmt::format("{} has no effect ({})", name, where));
      continue;
    }
    if (key->form != Key::Form::kReal && !line.is_whole) {
      return at_line(place_, line.number, fmt::format("{} takes a whole number", name));
    }
    const bool is_seed = name.ends_with("_seed");
    if (!std::isfinite(line.value) || (!is_seed && !(std::abs(line.value) <= kMostMilliseconds))) {
      return at_line(place_, line.number,
                     fmt::format("{} is out of range for {}", line.value, name));
    }
    if (name == "mode" && line.whole > 3) {
      return at_line(place_, line.number,
                     "mode is 0 submission, 1 accuracy, 2 performance or 3 peak");
    }
    if (name == "target_latency" && settings.scenario == Scenario::kServer && !line.is_whole) {
      notes.push_back(fmt::format("target_latency is cut to whole milliseconds ({})", where));
    }
    key->set(settings, {line.value, line.whole});
  }
  return notes;
}

}  // namespace assay

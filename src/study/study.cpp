// SPDX-License-Identifier: Apache-2.0
#include "study/study.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "workload/toml.h"

namespace assay {
namespace {

constexpr double kNoBudget = -1;

// Reads one document; `place` is part of every error.
class StudyReader {
 public:
  explicit StudyReader(std::string place) : place_(std::move(place)) {}

  Result<Study> read(const toml::table& root) {
    ASSAY_TRY(known_keys(root, {"title", "report", "budget_s", "part"}, "the study"));
    Study study;
    ASSAY_ASSIGN(study.title, text(root, "title"));
    ASSAY_ASSIGN(study.report, text(root, "report"));
    ASSAY_TRY(read_budgets(root, study));
    const toml::array* parts = root["part"].as_array();
    if (parts == nullptr || parts->empty()) return invalid("there is no [[part]]");
    std::set<std::string> names;
    for (const toml::node& node : *parts) {
      const toml::table* table = node.as_table();
      if (table == nullptr) return invalid("part is not a list of tables");
      ASSAY_ASSIGN(StudyPart part, read_part(*table));
      if (!names.insert(part.name).second)
        return invalid(fmt::format("two parts are named '{}'", part.name));
      study.parts.push_back(std::move(part));
    }
    return study;
  }

 private:
  Error invalid(std::string message, std::string hint = "") const {
    return {ErrorCode::kInvalid, std::move(message), place_, std::move(hint)};
  }

  Result<void> known_keys(const toml::table& table, std::initializer_list<const char*> keys,
                          std::string_view where) const {
    const std::vector<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const auto nearest = nearest_name(name, known);
      return invalid(fmt::format("{} has no key '{}'", where, name),
                     nearest ? fmt::format("did you mean '{}'?", *nearest)
                             : fmt::format("the keys are: {}", join(known, ", ")));
    }
    return {};
  }

  Result<std::string> text(const toml::table& table, const char* key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::string();
    if (!node->is_string()) return invalid(fmt::format("{} must be text", key));
    return node->as_string()->get();
  }

  Result<double> positive(const toml::table& table, const char* key, double fallback) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return fallback;
    const std::optional<double> value = node->value<double>();
    if (!value || !(*value > 0)) return invalid(fmt::format("{} must be a number above 0", key));
    return *value;
  }

  Result<void> read_budgets(const toml::table& root, Study& study) {
    const toml::node* node = root.get("budget_s");
    if (node == nullptr || node->as_table() == nullptr) return invalid("[budget_s] is missing");
    const toml::table& table = *node->as_table();
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      ASSAY_ASSIGN(budgets_[name], positive(table, name.c_str(), kNoBudget));
      study.budget_s += budgets_[name];
    }
    return {};
  }

  Result<StudyPart> read_part(const toml::table& table) {
    ASSAY_TRY(known_keys(table, {"name", "sweep", "stopping"}, "a part"));
    StudyPart part;
    ASSAY_ASSIGN(part.name, text(table, "name"));
    if (part.name.empty()) return invalid("a part has no name");
    const auto budget = budgets_.find(part.name);
    if (budget == budgets_.end())
      return invalid(fmt::format("part '{}' has no budget", part.name),
                     fmt::format("write '{} = SECONDS' below [budget_s]", part.name));
    part.budget_s = budget->second;
    if (const toml::table* stopping = table["stopping"].as_table())
      ASSAY_TRY(read_stopping(*stopping, part.stopping));
    const toml::array* sweeps = table["sweep"].as_array();
    if (sweeps == nullptr || sweeps->empty())
      return invalid(fmt::format("part '{}' has no [[part.sweep]]", part.name));
    for (const toml::node& node : *sweeps) {
      const toml::table* axes = node.as_table();
      if (axes == nullptr) return invalid("sweep is not a list of tables");
      ASSAY_ASSIGN(Sweep sweep, read_sweep(*axes));
      part.sweeps.push_back(std::move(sweep));
    }
    return part;
  }

  Result<void> read_stopping(const toml::table& table, StoppingOptions& stopping) const {
    ASSAY_TRY(
        known_keys(table, {"min_time_s", "max_time_s", "max_noise", "min_samples"}, "stopping"));
    ASSAY_ASSIGN(stopping.min_time_s, positive(table, "min_time_s", stopping.min_time_s));
    ASSAY_ASSIGN(stopping.max_time_s, positive(table, "max_time_s", stopping.max_time_s));
    ASSAY_ASSIGN(stopping.max_noise, positive(table, "max_noise", stopping.max_noise));
    ASSAY_ASSIGN(const double samples,
                 positive(table, "min_samples", static_cast<double>(stopping.min_samples)));
    stopping.min_samples = static_cast<int64_t>(samples);
    return {};
  }

  // Axes in the order of the case's keys: TOML tables have none of their own.
  Result<Sweep> read_sweep(const toml::table& table) const {
    std::map<std::string, std::vector<std::string>> values;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "set") {
        const toml::table* overrides = node.as_table();
        if (overrides == nullptr) return invalid("set must be a table");
        for (const auto& [inner, value] : *overrides) {
          const std::string full = "set." + std::string(inner.str());
          ASSAY_ASSIGN(values[full], axis(full, value));
        }
        continue;
      }
      ASSAY_ASSIGN(values[name], axis(name, node));
    }
    if (!values.contains("activity")) return invalid("a sweep has no activity");
    Sweep sweep;
    for (const CaseKey& key : case_keys())
      if (auto found = values.extract(key.name)) sweep.set(key.name, std::move(found.mapped()));
    for (auto& [name, list] : values) sweep.set(name, std::move(list));
    ASSAY_TRY(check(sweep));
    return sweep;
  }

  Result<void> check(const Sweep& sweep) const {
    const Result<std::vector<Case>> cases = expand(sweep);
    if (!cases.ok()) return invalid(cases.error().text(), cases.error().hint);
    return {};
  }

  // A value, a list of values, or text that holds a list or a range.
  Result<std::vector<std::string>> axis(const std::string& key, const toml::node& node) const {
    const Result<CaseValueType> type = case_key_type(key);
    if (!type.ok()) return invalid(type.error().message, type.error().hint);
    std::vector<std::string> values;
    const auto append = [&](const toml::node& value) -> Result<void> {
      if (const auto* string = value.as_string()) {
        Result<std::vector<std::string>> expanded = expand_values(string->get(), *type);
        if (!expanded.ok()) return invalid(expanded.error().message);
        values.insert(values.end(), expanded->begin(), expanded->end());
      } else if (const auto* integer = value.as_integer()) {
        values.push_back(std::to_string(integer->get()));
      } else if (const auto* number = value.as_floating_point()) {
        values.push_back(shortest(number->get()));
      } else if (const auto* boolean = value.as_boolean()) {
        values.emplace_back(boolean->get() ? "true" : "false");
      } else {
        return invalid(fmt::format("{} must be text, a number, or a list of them", key));
      }
      return {};
    };
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& value : *list) ASSAY_TRY(append(value));
    } else {
      ASSAY_TRY(append(node));
    }
    return values;
  }

  std::string place_;
  std::map<std::string, double> budgets_;
};

}  // namespace

Result<Study> parse_study(const std::string& text, const std::string& place) {
  ASSAY_ASSIGN(const toml::table table, parse_toml(text, place));
  return StudyReader(place).read(table);
}

Result<Study> read_study(const std::filesystem::path& file) {
  ASSAY_ASSIGN(const std::string text, read_file(file));
  ASSAY_ASSIGN(Study study, parse_study(text, file.string()));
  study.name = file.stem().string();
  if (study.title.empty()) study.title = study.name;
  return study;
}

std::vector<std::string> study_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace assay

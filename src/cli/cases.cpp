// SPDX-License-Identifier: Apache-2.0
#include "cli/cases.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/catalogue.h"
#include "cli/output.h"
#include "data/dataset.h"
#include "engine/plugin.h"
#include "study/model_subject.h"
#include "study/subject.h"

namespace assay::cli {
namespace {

// Options that are keys of a case under the same name.
constexpr std::array<const char*, 10> kCaseKeys{"variant", "engine",  "device", "precision",
                                                "batch",   "threads", "seed",   "steps",
                                                "epochs",  "level"};

std::vector<std::string> values_of(const std::vector<std::string>& given, std::string_view key,
                                   const std::string& option) {
  std::vector<std::string> values;
  const CaseValueType type = value_or_fail(case_key_type(key));
  for (const std::string& text : given) {
    const Result<std::vector<std::string>> expanded = expand_values(text, type);
    if (!expanded.ok()) throw UserError(expanded.error().message, option, expanded.error().hint);
    values.insert(values.end(), expanded->begin(), expanded->end());
  }
  return values;
}

// "--seeds 3" is seeds 0, 1, 2.
void apply_seeds(const Invocation& invocation, Sweep& sweep) {
  const std::optional<int64_t> seeds = invocation.integer("--seeds");
  if (!seeds) return;
  sweep.set("seed", value_or_fail(
                        expand_values(fmt::format("0-{}", *seeds - 1), CaseValueType::kUnsigned)));
}

void apply_overrides(const Invocation& invocation, Sweep& sweep) {
  const auto given = invocation.options.find("--set");
  if (given == invocation.options.end()) return;
  for (const std::string& text : given->second) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError(fmt::format("'{}' is not KEY=VALUE", text), "--set",
                      "for example --set optimizer.rate=0.1");
    std::string key = text.substr(0, equals);
    if (key.starts_with("recipe.")) key.erase(0, std::string_view("recipe.").size());
    sweep.set("set." + key, values_of({text.substr(equals + 1)}, "set." + key, "--set"));
  }
}

std::vector<Case> expanded(const Sweep& sweep) {
  Result<std::vector<Case>> cases = expand(sweep);
  if (!cases.ok()) {
    std::string where = cases.error().place;
    throw UserError(cases.error().message, where, cases.error().hint);
  }
  return std::move(*cases);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> resolve_target(const std::string& name,
                                                                const std::string& variant) {
  const std::vector<Workload> workloads = all_workloads();
  if (name == "all") {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Workload& workload : workloads)
      if (workload.variant(variant) != nullptr) all.emplace_back("workload", workload.name);
    if (all.empty()) throw UserError(fmt::format("no workload has a variant '{}'", variant));
    return all;
  }
  std::vector<std::string> candidates;
  for (const Workload& workload : workloads) {
    if (name == workload.name || name == "workload:" + workload.name)
      return {{"workload", workload.name}};
    candidates.push_back(workload.name);
  }
  for (const std::string& model : all_model_names()) {
    if (name == model || name == "model:" + model) return {{"model", model}};
    candidates.push_back(model);
  }
  if (is_onnx_file(name)) return {{"model", name}};
  if (name.find('/') != std::string::npos)
    throw UserError("a file that is no ONNX model", name, "the name of one ends in .onnx");
  const std::string bare =
      name.substr(name.find(':') == std::string::npos ? 0 : name.find(':') + 1);
  const auto nearest = nearest_name(bare, candidates);
  throw UserError(fmt::format("no workload or model is named '{}'", bare), "",
                  nearest ? fmt::format("did you mean '{}'?", *nearest)
                          : "see 'assay list workloads' and 'assay list models'");
}

std::vector<Case> cases_of(const Invocation& invocation, const std::string& activity) {
  if (const auto text = invocation.value("--case")) {
    const Result<Case> parsed = Case::parse(*text);
    if (!parsed.ok()) throw UserError(parsed.error().text(), "--case", parsed.error().hint);
    if (!invocation.positionals.empty())
      throw UserError("--case names the whole case", invocation.positionals[0],
                      "leave the argument out");
    const std::string& own = parsed->get("activity");
    if (own != activity && invocation.command_name != "sweep")
      throw UserError(fmt::format("the case's activity is '{}'", own), "--case",
                      fmt::format("run it with 'assay {}'", own));
    return {*parsed};
  }
  if (invocation.positionals.empty())
    throw UserError("WORKLOAD is missing", "", "see 'assay list workloads'");
  Sweep sweep;
  sweep.set("activity", {activity});
  for (const char* key : kCaseKeys) {
    const std::string option = std::string("--") + key;
    const auto given = invocation.options.find(option);
    if (given != invocation.options.end()) sweep.set(key, values_of(given->second, key, option));
  }
  apply_seeds(invocation, sweep);
  apply_overrides(invocation, sweep);
  std::vector<Case> cases;
  for (const std::string& name : invocation.positionals)
    for (const auto& [key, target] :
         resolve_target(name, invocation.value_or("--variant", "small"))) {
      Sweep one = sweep;
      one.set(key, {target});
      for (Case& member : expanded(one)) cases.push_back(std::move(member));
    }
  return cases;
}

namespace {

void check_engines(const std::vector<Case>& cases) {
  const std::vector<EngineInfo> known = available_engines();
  std::vector<std::string> names;
  for (const EngineInfo& engine : known) names.push_back(engine.name);
  const EngineInfo* missing = nullptr;
  bool any = false;
  for (const Case& one : cases) {
    const std::string& full = one.get("engine");
    const std::string name = full.substr(0, full.find(':'));
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const EngineInfo& engine) { return engine.name == name; });
    if (found == known.end()) {
      const auto nearest = nearest_name(name, names);
      throw UserError(fmt::format("no engine is named '{}'", name), "--engine",
                      nearest ? fmt::format("did you mean '{}'?", *nearest)
                              : fmt::format("there are: {}", join(names, ", ")));
    }
    any = any || found->available;
    if (!found->available) missing = &*found;
  }
  if (missing != nullptr && !any)
    throw UserError(fmt::format("engine {} is not available: {}", missing->name, missing->reason),
                    "--engine",
                    "'assay doctor' says what is missing; 'assay list engines' what is there");
}

// Cases that differ only in how they run are checked once.
std::map<std::string, Case> distinct_subjects(const std::vector<Case>& cases) {
  std::map<std::string, Case> subjects;
  for (const Case& one : cases) {
    std::string key;
    for (const char* part : {"activity", "workload", "model", "variant", "batch", "epochs"})
      key += one.get(part) + " ";
    for (const auto& [name, value] : one.overrides()) key += " " + name + "=" + value;
    subjects.emplace(std::move(key), one);
  }
  return subjects;
}

}  // namespace

void check_cases(const std::vector<Case>& cases) {
  check_engines(cases);
  for (const Case& one : cases) value_or_fail(plan_of(one));
  for (const auto& [key, one] : distinct_subjects(cases)) {
    if (!one.get("workload").empty()) {
      value_or_fail(choose_workload(one));
    } else if (!one.get("model").empty()) {
      value_or_fail(open_model(one));
    } else {
      throw UserError("the case names neither a workload nor a model", one.text());
    }
  }
}

void prepare_data(const std::vector<Case>& cases) {
  const DatasetCatalogue catalogue(DataRoots::from_environment());
  for (const auto& [key, one] : distinct_subjects(cases)) {
    if (one.get("workload").empty()) continue;
    const Result<ChosenWorkload> chosen = choose_workload(one);
    if (!chosen.ok()) continue;
    const std::string& name = chosen->variant.dataset;
    const Result<DatasetStatus> status = catalogue.status(name);
    if (!status.ok() || status->state != DatasetState::kNotPrepared) continue;
    std::fputs(fmt::format("preparing {}: {}\n", name, status->terms).c_str(), stderr);
    const Result<DatasetStatus> prepared = catalogue.prepare(name);
    if (!prepared.ok()) warn(prepared.error().text());
  }
}

std::vector<Case> shuffled_cases(const Invocation& invocation, const Sweep& sweep) {
  std::vector<Case> cases = expanded(sweep);
  shuffle_cases(cases, invocation.seed("--order-seed").value_or(0));
  return cases;
}

}  // namespace assay::cli

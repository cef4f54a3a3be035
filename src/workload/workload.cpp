// SPDX-License-Identifier: Apache-2.0
#include "workload/workload.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "data/data_roots.h"
#include "model/model.h"
#include "workload/recipe_fields.h"
#include "workload/tasks.h"

namespace assay {
namespace {

constexpr std::string_view kModelPrefix = "model.";

Json json_value(const FieldValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Error unknown_key(const std::string& key, const WorkloadVariant& variant) {
  std::vector<std::string> names;
  for (const RecipeField& field : recipe_fields()) names.push_back(field.name);
  for (const auto& [name, value] : variant.recipe.extra) names.push_back(name);
  for (const auto& [name, value] : variant.model_config) {
    names.push_back(std::string(kModelPrefix) + name);
  }
  const auto near = nearest_name(key, names);
  return Error{ErrorCode::kInvalid, "the recipe has no key '" + key + "'", "",
               near ? "did you mean '" + *near + "'?" : "there are " + join(names, ", ")};
}

Result<void> override_one(WorkloadVariant& variant, const std::string& key,
                          const std::string& text) {
  const auto fields = recipe_fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&key](const RecipeField& f) { return f.name == key; });
  if (field != fields.end()) {
    ASSAY_ASSIGN(const FieldValue value, parse_field(*field, text));
    return set_field(variant.recipe, *field, value);
  }
  if (const auto extra = variant.recipe.extra.find(key); extra != variant.recipe.extra.end()) {
    extra->second = text;
    return {};
  }
  if (key.rfind(kModelPrefix, 0) == 0) {
    const auto config = variant.model_config.find(key.substr(kModelPrefix.size()));
    if (config != variant.model_config.end()) {
      config->second = text;
      return {};
    }
  }
  return unknown_key(key, variant);
}

// "recipe.batch" is the long form of "batch", and both spellings of optimizer are understood.
std::string canonical_key(std::string key) {
  constexpr std::string_view kRecipe = "recipe.";
  constexpr std::string_view kBritish = "optimiser.";
  if (key.rfind(kRecipe, 0) == 0) key.erase(0, kRecipe.size());
  if (key.rfind(kBritish, 0) == 0) key.replace(0, kBritish.size(), "optimizer.");
  return key;
}

}  // namespace

const WorkloadVariant* Workload::variant(std::string_view wanted) const {
  for (const WorkloadVariant& candidate : variants) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

Result<Workload> read_workload(const std::filesystem::path& toml_file) {
  ASSAY_ASSIGN(const std::string text, read_file(toml_file, Bytes{int64_t{1} << 20}));
  ASSAY_ASSIGN(Workload workload, parse_workload(text, toml_file.string()));
  if (workload.name != toml_file.stem()) {
    return Error{
        ErrorCode::kInvalid,
        "the file of workload '" + workload.name + "' must be called " + workload.name + ".toml",
        toml_file.string()};
  }
  return workload;
}

Result<std::vector<Workload>> load_workloads(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  if (failure) {
    return Error{ErrorCode::kNotFound, "no workloads: " + failure.message(), folder.string()};
  }
  std::sort(files.begin(), files.end());
  std::vector<Workload> workloads;
  for (const auto& file : files) {
    ASSAY_ASSIGN(Workload workload, read_workload(file));
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

Result<WorkloadVariant> override_recipe(WorkloadVariant variant,
                                        const std::map<std::string, std::string>& overrides) {
  for (const auto& [key, text] : overrides) {
    ASSAY_TRY(override_one(variant, canonical_key(key), text));
  }
  ASSAY_TRY(check_recipe(variant.recipe));
  return variant;
}

Json recipe_json(const Workload& workload, const WorkloadVariant& variant) {
  Json recipe = Json::object();
  for (const RecipeField& field : recipe_fields()) {
    recipe[field.name] = json_value(field.get(variant.recipe));
  }
  for (const auto& [name, text] : variant.recipe.extra) recipe[name] = text;
  Json config = Json::object();
  for (const auto& [name, text] : variant.model_config) config[name] = text;
  return Json{{"workload", workload.name},  {"task", workload.task},
              {"metric", workload.metric},  {"variant", variant.name},
              {"model", variant.model},     {"model_config", std::move(config)},
              {"dataset", variant.dataset}, {"recipe", std::move(recipe)}};
}

Result<Graph> variant_graph(const WorkloadVariant& variant, Phase phase) {
  ModelConfig config = variant.model_config;
  if (phase == Phase::kTraining && variant.recipe.label_smoothing > 0) {
    config["label_smoothing"] = shortest(variant.recipe.label_smoothing);
  }
  return build_model(variant.model, config, phase);
}

Result<std::unique_ptr<Task>> make_task(const Workload& workload, const WorkloadVariant& variant) {
  return make_task(workload, variant, DataRoots::from_environment());
}

Result<std::unique_ptr<Task>> make_task(const Workload& workload, const WorkloadVariant& variant,
                                        const DataRoots& roots) {
  ASSAY_ASSIGN(const TaskEntry* entry, find_task(workload.task));
  return entry->make(workload, variant, roots);
}

}  // namespace assay

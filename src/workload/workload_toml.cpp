// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "workload/recipe_fields.h"
#include "workload/tasks.h"
#include "workload/toml.h"
#include "workload/workload.h"

namespace assay {
namespace {

// An integer is a number, too.
std::optional<double> number(const toml::node& node) {
  if (node.is_floating_point()) return node.as_floating_point()->get();
  if (node.is_integer()) return static_cast<double>(node.as_integer()->get());
  return std::nullopt;
}

// Reads one document; every error carries the file and the line of the offending node.
class Reader {
 public:
  explicit Reader(std::string_view place) : place_(place) {}

  Result<Workload> workload(const toml::table& root) {
    ASSAY_TRY(only(root, "the workload",
                   {"name", "task", "domain", "suite", "metric", "item", "data_license", "baseline",
                    "variant"}));
    Workload w;
    ASSAY_TRY(text(root, "name", w.name));
    ASSAY_TRY(text(root, "task", w.task));
    ASSAY_TRY(text(root, "domain", w.domain));
    ASSAY_TRY(text(root, "suite", w.suite));
    ASSAY_TRY(text(root, "metric", w.metric));
    ASSAY_TRY(text(root, "item", w.item));
    ASSAY_TRY(text(root, "data_license", w.data_license));
    const Result<const TaskEntry*> task = find_task(w.task);
    if (!task.ok()) return at(*root.get("task"), task.error());
    task_ = *task;
    if (std::find(task_->metrics.begin(), task_->metrics.end(), w.metric) == task_->metrics.end()) {
      return error(*root.get("metric"), "task '" + w.task + "' has no metric '" + w.metric + "'",
                   "there are " + join(task_->metrics, ", "));
    }
    if (root.contains("baseline")) ASSAY_TRY(baselines(*root.get("baseline"), w.baselines));
    ASSAY_TRY(variants(root, w.variants));
    return w;
  }

 private:
  Error error(const toml::node& node, std::string message, std::string hint = "") const {
    return Error{ErrorCode::kInvalid, std::move(message), toml_place(place_, node.source()),
                 std::move(hint)};
  }
  // The error of a field, at the node's line.
  Error at(const toml::node& node, const Error& inner) const {
    const std::string name = inner.place.empty() ? "" : inner.place + ": ";
    return error(node, name + inner.message, inner.hint);
  }

  Result<void> only(const toml::table& table, const std::string& what,
                    const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const auto near = nearest_name(name, known);
      return error(node, what + " has no key '" + name + "'",
                   near ? "did you mean '" + *near + "'?" : "there are " + join(known, ", "));
    }
    return {};
  }

  Result<const toml::node*> required(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return error(table, "'" + std::string(key) + "' is missing");
    return node;
  }

  Result<void> text(const toml::table& table, std::string_view key, std::string& out) const {
    ASSAY_ASSIGN(const toml::node* node, required(table, key));
    const auto* value = node->as_string();
    if (value == nullptr || value->get().empty()) {
      return error(*node, "'" + std::string(key) + "' must be a text that is not empty");
    }
    out = value->get();
    return {};
  }

  Result<const toml::table*> table(const toml::table& parent, std::string_view key) const {
    ASSAY_ASSIGN(const toml::node* node, required(parent, key));
    if (!node->is_table()) return error(*node, "'" + std::string(key) + "' must be a table");
    return node->as_table();
  }

  Result<void> baselines(const toml::node& node, std::vector<Baseline>& out) const {
    if (!node.is_array_of_tables()) return error(node, "[[baseline]] must be an array of tables");
    for (const toml::node& item : *node.as_array()) {
      const toml::table& entry = *item.as_table();
      ASSAY_TRY(only(entry, "a baseline", {"name", "quality", "how"}));
      Baseline baseline;
      ASSAY_TRY(text(entry, "name", baseline.name));
      ASSAY_TRY(text(entry, "how", baseline.how));
      ASSAY_ASSIGN(const toml::node* quality, required(entry, "quality"));
      const std::optional<double> value = number(*quality);
      if (!value || !std::isfinite(*value)) return error(*quality, "'quality' must be a number");
      baseline.quality = *value;
      out.push_back(std::move(baseline));
    }
    return {};
  }

  Result<void> variants(const toml::table& root, std::vector<WorkloadVariant>& out) const {
    ASSAY_ASSIGN(const toml::table* all, table(root, "variant"));
    if (all->empty()) return error(*all, "a workload needs a variant");
    for (const auto& [key, node] : *all) {
      if (!node.is_table()) return error(node, "a variant must be a table");
      WorkloadVariant variant;
      variant.name = key.str();
      ASSAY_TRY(read_variant(*node.as_table(), variant));
      out.push_back(std::move(variant));
    }
    return {};
  }

  Result<void> read_variant(const toml::table& node, WorkloadVariant& variant) const {
    ASSAY_TRY(only(node, "a variant", {"model", "dataset", "model_config", "recipe"}));
    ASSAY_TRY(text(node, "model", variant.model));
    ASSAY_TRY(text(node, "dataset", variant.dataset));
    ASSAY_ASSIGN(const toml::table* config, table(node, "model_config"));
    for (const auto& [key, value] : *config) {
      ASSAY_ASSIGN(variant.model_config[std::string(key.str())], config_text(value));
    }
    ASSAY_ASSIGN(const toml::table* recipe, table(node, "recipe"));
    ASSAY_TRY(read_recipe(*recipe, "", variant.recipe));
    for (const RecipeField& field : recipe_fields()) {
      if (field.required && !recipe->at_path(field.name)) {
        return error(*recipe, "the recipe lacks '" + field.name + "'");
      }
    }
    const Result<void> sound = check_recipe(variant.recipe);
    return sound.ok() ? sound : Result<void>(at(*recipe, sound.error()));
  }

  // Keys of nested tables are joined with dots: [recipe.optimizer] rate is "optimizer.rate".
  Result<void> read_recipe(const toml::table& node, const std::string& prefix,
                           Recipe& recipe) const {
    for (const auto& [key, value] : node) {
      const std::string name = prefix + std::string(key.str());
      if (value.is_table()) {
        ASSAY_TRY(read_recipe(*value.as_table(), name + ".", recipe));
        continue;
      }
      const auto fields = recipe_fields();
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&name](const RecipeField& f) { return f.name == name; });
      if (field != fields.end()) {
        ASSAY_ASSIGN(const FieldValue parsed, field_value(*field, value));
        const Result<void> done = set_field(recipe, *field, parsed);
        if (!done.ok()) return at(value, done.error());
        continue;
      }
      const auto& own = task_->recipe_keys;
      if (std::find(own.begin(), own.end(), name) == own.end()) return unknown(value, name);
      ASSAY_ASSIGN(recipe.extra[name], config_text(value));
    }
    return {};
  }

  Error unknown(const toml::node& node, const std::string& name) const {
    std::vector<std::string> known = task_->recipe_keys;
    for (const RecipeField& field : recipe_fields()) known.push_back(field.name);
    const auto near = nearest_name(name, known);
    return error(node, "the recipe has no key '" + name + "'",
                 near ? "did you mean '" + *near + "'?" : "there are " + join(known, ", "));
  }

  Result<FieldValue> field_value(const RecipeField& field, const toml::node& node) const {
    const auto wrong = [&] {
      return error(
          node, "'" + field.name + "' must be " + std::string(recipe_field_type_name(field.type)));
    };
    switch (field.type) {
      case RecipeFieldType::kInteger:
        if (!node.is_integer()) return wrong();
        return FieldValue(node.as_integer()->get());
      case RecipeFieldType::kNumber:
        if (!number(node)) return wrong();
        return FieldValue(*number(node));
      case RecipeFieldType::kBoolean:
        if (!node.is_boolean()) return wrong();
        return FieldValue(node.as_boolean()->get());
      case RecipeFieldType::kText:
        if (!node.is_string()) return wrong();
        return FieldValue(node.as_string()->get());
      case RecipeFieldType::kNumbers:
        break;
    }
    if (!node.is_array()) return wrong();
    std::vector<double> list;
    for (const toml::node& item : *node.as_array()) {
      if (!number(item)) return wrong();
      list.push_back(*number(item));
    }
    return FieldValue(std::move(list));
  }

  // Model configs and the task's own keys are text to us: [1, 2] is "1,2".
  Result<std::string> config_text(const toml::node& node) const {
    if (node.is_string()) return node.as_string()->get();
    if (node.is_integer()) return std::to_string(node.as_integer()->get());
    if (node.is_floating_point()) return shortest(node.as_floating_point()->get());
    if (node.is_boolean()) return std::string(node.as_boolean()->get() ? "true" : "false");
    if (!node.is_array()) return error(node, "expected a number, a text, true, false or a list");
    std::vector<std::string> parts;
    for (const toml::node& item : *node.as_array()) {
      if (item.is_array()) return error(item, "a list in a list");
      ASSAY_ASSIGN(std::string part, config_text(item));
      parts.push_back(std::move(part));
    }
    return join(parts, ",");
  }

  std::string place_;
  const TaskEntry* task_ = nullptr;
};

}  // namespace

Result<Workload> parse_workload(std::string_view toml, std::string_view place) {
  ASSAY_ASSIGN(const toml::table table, parse_toml(toml, place));
  return Reader(place).workload(table);
}

}  // namespace assay

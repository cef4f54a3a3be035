// SPDX-License-Identifier: Apache-2.0
#include "workload/recipe_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace assay {
namespace {

using Text = std::string;

// A number of the recipe with limits; an open end excludes the limit itself.
struct Range {
  double low;
  double high;
  bool open_low = false;
  bool open_high = false;

  bool holds(double x) const {
    return std::isfinite(x) && (open_low ? x > low : x >= low) &&
           (open_high ? x < high : x <= high);
  }
  Text text() const {
    return shortest(low) + (open_low ? " < x" : " <= x") + (open_high ? " < " : " <= ") +
           shortest(high);
  }
};

RecipeField number(Text name, Range range, double& (*at)(Recipe&), Text doc) {
  return {std::move(name),
          RecipeFieldType::kNumber,
          range.text(),
          std::move(doc),
          [range, at](Recipe& recipe, const FieldValue& value) {
            const double x = std::get<double>(value);
            if (!range.holds(x)) return false;
            at(recipe) = x;
            return true;
          },
          [at](const Recipe& recipe) {
            Recipe copy = recipe;
            return FieldValue(at(copy));
          }};
}

RecipeField integer(Text name, int64_t low, int64_t high, int64_t& (*at)(Recipe&), Text doc) {
  return {std::move(name),
          RecipeFieldType::kInteger,
          std::to_string(low) + " <= x <= " + std::to_string(high),
          std::move(doc),
          [low, high, at](Recipe& recipe, const FieldValue& value) {
            const int64_t x = std::get<int64_t>(value);
            if (x < low || x > high) return false;
            at(recipe) = x;
            return true;
          },
          [at](const Recipe& recipe) {
            Recipe copy = recipe;
            return FieldValue(at(copy));
          }};
}

RecipeField boolean(Text name, bool& (*at)(Recipe&), Text doc) {
  return {std::move(name),
          RecipeFieldType::kBoolean,
          "true or false",
          std::move(doc),
          [at](Recipe& recipe, const FieldValue& value) {
            at(recipe) = std::get<bool>(value);
            return true;
          },
          [at](const Recipe& recipe) {
            Recipe copy = recipe;
            return FieldValue(at(copy));
          }};
}

RecipeField optimizer_kind() {
  return {
      "optimizer.kind",
      RecipeFieldType::kText,
      "sgd, adam or adamw",
      "the update rule",
      [](Recipe& recipe, const FieldValue& value) {
        const Result<OptimizerKind> kind = parse_optimizer(std::get<Text>(value));
        if (kind.ok()) recipe.optimizer.kind = *kind;
        return kind.ok();
      },
      [](const Recipe& recipe) { return FieldValue(Text(optimizer_name(recipe.optimizer.kind))); }};
}

RecipeField schedule_kind() {
  return {
      "schedule.kind",
      RecipeFieldType::kText,
      "constant, linear, cosine, polynomial or step",
      "how the rate falls after the warm-up",
      [](Recipe& recipe, const FieldValue& value) {
        const Result<ScheduleKind> kind = parse_schedule(std::get<Text>(value));
        if (kind.ok()) recipe.schedule.kind = *kind;
        return kind.ok();
      },
      [](const Recipe& recipe) { return FieldValue(Text(schedule_name(recipe.schedule.kind))); }};
}

RecipeField boundaries() {
  return {"schedule.boundaries",
          RecipeFieldType::kNumbers,
          "rising, each 0 < x < 1",
          "step schedule: where the rate is multiplied by factor, as fractions of all steps",
          [](Recipe& recipe, const FieldValue& value) {
            const auto& list = std::get<std::vector<double>>(value);
            double last = 0;
            for (const double x : list) {
              if (!(x > last && x < 1)) return false;
              last = x;
            }
            recipe.schedule.boundaries = list;
            return true;
          },
          [](const Recipe& recipe) { return FieldValue(recipe.schedule.boundaries); }};
}

// 0 stands for "not clipped", so that an override can turn clipping off.
RecipeField clip_norm() {
  const Range range{0, 1e9};
  return {"optimizer.clip_norm",
          RecipeFieldType::kNumber,
          range.text(),
          "limit of the global L2 norm of all gradients; 0: not clipped",
          [range](Recipe& recipe, const FieldValue& value) {
            const double x = std::get<double>(value);
            if (!range.holds(x)) return false;
            recipe.optimizer.clip_norm = x > 0 ? std::optional<double>(x) : std::nullopt;
            return true;
          },
          [](const Recipe& recipe) { return FieldValue(recipe.optimizer.clip_norm.value_or(0)); }};
}

std::vector<RecipeField> general_fields() {
  constexpr int64_t kMostItems = int64_t{1} << 24;
  std::vector<RecipeField> fields = {
      integer(
          "batch", 1, kMostItems, [](Recipe& r) -> int64_t& { return r.batch; },
          "items of one optimiser step"),
      number(
          "epochs", {0, 1e6, true}, [](Recipe& r) -> double& { return r.epochs; },
          "length of the schedule; training ends there at the latest"),
      number(
          "evaluations_per_epoch", {0, 1e3, true},
          [](Recipe& r) -> double& { return r.evaluations_per_epoch; },
          "how often the quality is measured"),
      integer(
          "evaluation_batch", 1, kMostItems,
          [](Recipe& r) -> int64_t& { return r.evaluation_batch; }, "items of one evaluation call"),
      number(
          "target", {0, 1e9}, [](Recipe& r) -> double& { return r.target; },
          "the quality at which training stops"),
  };
  for (RecipeField& field : fields) field.required = true;
  fields.push_back(number(
      "label_smoothing", {0, 1, false, true},
      [](Recipe& r) -> double& { return r.label_smoothing; },
      "share of the target spread evenly over all classes"));
  return fields;
}

void add_optimizer_fields(std::vector<RecipeField>& fields) {
  const Range beta{0, 1, false, true};
  fields.push_back(optimizer_kind());
  fields.push_back(number(
      "optimizer.rate", {0, 1e3, true}, [](Recipe& r) -> double& { return r.schedule.rate; },
      "the peak of the learning rate"));
  fields.back().required = true;
  fields.push_back(number(
      "optimizer.momentum", beta, [](Recipe& r) -> double& { return r.optimizer.momentum; },
      "sgd"));
  fields.push_back(boolean(
      "optimizer.nesterov", [](Recipe& r) -> bool& { return r.optimizer.nesterov; }, "sgd"));
  fields.push_back(number(
      "optimizer.beta1", beta, [](Recipe& r) -> double& { return r.optimizer.beta1; },
      "adam, adamw"));
  fields.push_back(number(
      "optimizer.beta2", beta, [](Recipe& r) -> double& { return r.optimizer.beta2; },
      "adam, adamw"));
  fields.push_back(number(
      "optimizer.epsilon", {0, 1, true}, [](Recipe& r) -> double& { return r.optimizer.epsilon; },
      "adam, adamw"));
  fields.push_back(number(
      "optimizer.weight_decay", {0, 1},
      [](Recipe& r) -> double& { return r.optimizer.weight_decay; },
      "L2 for sgd and adam, decoupled for adamw"));
  fields.push_back(boolean(
      "optimizer.decay_matrices_only",
      [](Recipe& r) -> bool& { return r.optimizer.decay_matrices_only; },
      "spare biases and normalisation scales the decay"));
  fields.push_back(clip_norm());
}

void add_schedule_fields(std::vector<RecipeField>& fields) {
  fields.push_back(schedule_kind());
  fields.push_back(number(
      "schedule.end_rate", {0, 1e3}, [](Recipe& r) -> double& { return r.schedule.end_rate; },
      "the rate after the last step of linear, cosine and polynomial"));
  fields.push_back(number(
      "schedule.warmup_fraction", {0, 1, false, true},
      [](Recipe& r) -> double& { return r.schedule.warmup_fraction; },
      "share of all steps over which the rate rises linearly to its peak"));
  fields.push_back(number(
      "schedule.power", {0, 10, true}, [](Recipe& r) -> double& { return r.schedule.power; },
      "exponent of polynomial"));
  fields.push_back(boundaries());
  fields.push_back(number(
      "schedule.factor", {0, 1, true, true}, [](Recipe& r) -> double& { return r.schedule.factor; },
      "what the rate is multiplied by at each boundary"));
}

Error wrong_text(const RecipeField& field, std::string_view text) {
  return Error{ErrorCode::kInvalid,
               "'" + Text(text) + "' is not " + Text(recipe_field_type_name(field.type)),
               field.name};
}

}  // namespace

std::string_view recipe_field_type_name(RecipeFieldType type) {
  switch (type) {
    case RecipeFieldType::kInteger:
      return "an integer";
    case RecipeFieldType::kNumber:
      return "a number";
    case RecipeFieldType::kBoolean:
      return "true or false";
    case RecipeFieldType::kText:
      return "a text";
    case RecipeFieldType::kNumbers:
      break;
  }
  return "a list of numbers";
}

std::span<const RecipeField> recipe_fields() {
  static const std::vector<RecipeField> fields = [] {
    std::vector<RecipeField> all = general_fields();
    add_optimizer_fields(all);
    add_schedule_fields(all);
    return all;
  }();
  return fields;
}

Result<void> set_field(Recipe& recipe, const RecipeField& field, const FieldValue& value) {
  if (field.set(recipe, value)) return {};
  return Error{ErrorCode::kInvalid, "out of range, must be " + field.range, field.name};
}

Result<FieldValue> parse_field(const RecipeField& field, std::string_view text) {
  switch (field.type) {
    case RecipeFieldType::kInteger: {
      const Result<int64_t> value = parse_int(text);
      if (!value.ok()) return wrong_text(field, text);
      return FieldValue(*value);
    }
    case RecipeFieldType::kNumber: {
      const Result<double> value = parse_double(text);
      if (!value.ok()) return wrong_text(field, text);
      return FieldValue(*value);
    }
    case RecipeFieldType::kBoolean:
      if (text != "true" && text != "false") return wrong_text(field, text);
      return FieldValue(text == "true");
    case RecipeFieldType::kText:
      return FieldValue(Text(text));
    case RecipeFieldType::kNumbers:
      break;
  }
  std::vector<double> list;
  for (const Text& part : text.empty() ? std::vector<Text>() : split(text, ',')) {
    const Result<double> value = parse_double(part);
    if (!value.ok()) return wrong_text(field, text);
    list.push_back(*value);
  }
  return FieldValue(std::move(list));
}

Result<void> check_recipe(const Recipe& recipe) {
  const OptimizerConfig& optimizer = recipe.optimizer;
  if (optimizer.nesterov && (optimizer.kind != OptimizerKind::kSgd || optimizer.momentum == 0)) {
    return Error{ErrorCode::kInvalid, "Nesterov's form needs sgd with a momentum",
                 "optimizer.nesterov"};
  }
  const bool steps = recipe.schedule.kind == ScheduleKind::kStep;
  if (steps == recipe.schedule.boundaries.empty()) {
    return Error{ErrorCode::kInvalid,
                 steps ? "a step schedule needs boundaries" : "only a step schedule has boundaries",
                 "schedule.boundaries"};
  }
  return {};
}

}  // namespace assay

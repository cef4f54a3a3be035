// SPDX-License-Identifier: Apache-2.0
//
// The keys of a recipe, once: the TOML reader, the overrides of a case, the digest and the docs are
// made from this table. Constant after first use; thread-safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "workload/workload.h"

namespace assay {

enum class RecipeFieldType : uint8_t { kInteger, kNumber, kBoolean, kText, kNumbers };
std::string_view recipe_field_type_name(RecipeFieldType type);  // "an integer"

using FieldValue = std::variant<int64_t, double, bool, std::string, std::vector<double>>;

struct RecipeField {
  std::string name;  // "optimizer.rate"
  RecipeFieldType type = RecipeFieldType::kNumber;
  std::string range;  // "0 < x < 1", for errors and docs
  std::string doc;
  // False when the value, of the right type, is out of range.
  std::function<bool(Recipe&, const FieldValue&)> set;
  std::function<FieldValue(const Recipe&)> get;
  bool required = false;
};

std::span<const RecipeField> recipe_fields();

// kInvalid names the field and its range.
Result<void> set_field(Recipe& recipe, const RecipeField& field, const FieldValue& value);

// Reads the text of an override as the field's type.
Result<FieldValue> parse_field(const RecipeField& field, std::string_view text);

// What single fields cannot tell: Nesterov without momentum, boundaries without a step schedule.
Result<void> check_recipe(const Recipe& recipe);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "record/schema.h"

#include <array>

#include "record/schema_tables.h"

namespace assay {
namespace {

std::vector<RowSchema> all_schemas() {
  std::vector<RowSchema> schemas;
  for (auto* part :
       {&schema_tables::catalogue, &schema_tables::profiles, &schema_tables::measured}) {
    for (RowSchema& schema : part()) {
      schema.fields.insert(schema.fields.begin(), common_fields().begin(), common_fields().end());
      schema.measuring = schema.field("run") != nullptr;
      // All that a plan says of its cases is what they are and cost.
      const bool is_plan = schema.kind == "plan";
      for (Field& field : schema.fields) {
        if (field.name == "case" && is_plan) field.shown = true;
        if ((field.name == "status" || field.name == "reason") && is_plan) field.shown = false;
      }
      schemas.push_back(std::move(schema));
    }
  }
  return schemas;
}

}  // namespace

std::string_view field_type_name(FieldType type) {
  constexpr std::array<std::string_view, 6> kNames = {"text",    "integer", "number",
                                                      "boolean", "list",    "object"};
  return kNames.at(static_cast<size_t>(type));
}

const Field* RowSchema::field(std::string_view name) const {
  for (const Field& candidate : fields) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

std::span<const Field> common_fields() {
  using namespace schema_tables;  // NOLINT(google-build-using-namespace): a table reads better so
  static const std::array<Field, 4> fields = [] {
    std::array<Field, 4> common = {
        hidden(
            from(text("case", "the case as text: run it again with --case"), FieldSource::kRecord)),
        hidden(from(text("digest", "SHA-256 of graph, recipe and data: only equal digests compare"),
                    FieldSource::kRecord)),
        from(text("status",
                  "measured, skipped, unsupported, failed, crashed, timeout, noisy, untrusted or "
                  "short-of-target"),
             FieldSource::kRecord),
        from(text("reason", "why the status is what it is; empty where nothing is to be said"),
             FieldSource::kRecord)};
    common[2].nullable = false;
    common[3].nullable = false;
    return common;
  }();
  return fields;
}

std::span<const RowSchema> row_schemas() {
  static const std::vector<RowSchema> schemas = all_schemas();
  return schemas;
}

const RowSchema* find_row_schema(std::string_view command, std::string_view kind) {
  for (const RowSchema& schema : row_schemas()) {
    if (schema.command == command && schema.kind == kind) return &schema;
  }
  return nullptr;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// How the tables of the schema are written: one small constructor a kind of field. Used by
// schema*.cpp only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/schema.h"

namespace assay::schema_tables {

inline Field row(std::string name, FieldType type, std::string unit, std::string doc) {
  return {std::move(name), type, std::move(unit), std::move(doc)};
}
inline Field text(std::string name, std::string doc) {
  return row(std::move(name), FieldType::kText, "", std::move(doc));
}
inline Field count(std::string name, std::string doc) {
  return row(std::move(name), FieldType::kInteger, "count", std::move(doc));
}
inline Field bytes(std::string name, std::string doc) {
  return row(std::move(name), FieldType::kInteger, "bytes", std::move(doc));
}
inline Field from(Field field, FieldSource source, std::string name = "") {
  field.source = source;
  field.from = name.empty() ? field.name : std::move(name);
  return field;
}
inline Field metric(std::string name, std::string unit, std::string doc) {
  return from(row(std::move(name), FieldType::kNumber, std::move(unit), std::move(doc)),
              FieldSource::kMetric);
}
inline Field fact(std::string name, std::string doc) {
  return from(text(std::move(name), std::move(doc)), FieldSource::kFact);
}
inline Field hidden(Field field) {
  field.shown = false;
  return field;
}
// Appends `more` to `fields`.
inline void append(std::vector<Field>& fields, std::vector<Field> more) {
  for (Field& field : more) fields.push_back(std::move(field));
}

std::vector<RowSchema> catalogue();  // list, env, doctor, data, schema, report
std::vector<RowSchema> profiles();   // profile, its nodes, export, run
std::vector<RowSchema> measured();   // infer, train, sweep, study

}  // namespace assay::schema_tables

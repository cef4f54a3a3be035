// SPDX-License-Identifier: Apache-2.0
//
// The one schema: for every command, the fields of its rows. SQL views, JSON, CSV, Markdown, the
// console table and `assay schema` are all made from it, so a field exists everywhere or nowhere.
// Units end names; a value that does not exist is null and its reason is in the row's `missing`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

enum class FieldType : uint8_t { kText, kInteger, kNumber, kBoolean, kList, kObject };
std::string_view field_type_name(FieldType type);  // "integer"

// Where the value of a row made from a Record comes from.
enum class FieldSource : uint8_t {
  kRow,     // given by the command
  kMetric,  // the metric `from`
  kLow,     // lower end of the interval of the metric `from`
  kHigh,    // upper end
  kMethod,  // how that interval was made
  kFact,    // the fact `from`
  kCase,    // the case key `from`
  kRecord,  // a member of Record, known by the field's name
};

struct Field {
  std::string name;
  FieldType type = FieldType::kText;
  std::string unit;  // "", "s", "ns", "bytes", "flops", "count", "share", "per_s", "joules" ...
  std::string doc;
  FieldSource source = FieldSource::kRow;
  std::string from = {};  // what the source calls it
  bool nullable = true;
  bool shown = true;  // in the console table and Markdown; JSON and CSV always have every field
};

struct RowSchema {
  std::string command;
  std::string kind;  // where a command has several forms of row: "nodes"; else ""
  std::string doc;
  std::vector<Field> fields;
  bool measuring = false;  // its rows are made from records

  const Field* field(std::string_view name) const;
};

// Every schema, in the order of `assay --help`. Built once; safe to share between threads.
std::span<const RowSchema> row_schemas();
// Null when there is none.
const RowSchema* find_row_schema(std::string_view command, std::string_view kind = "");

// The fields every row has: case, digest, status, reason.
std::span<const Field> common_fields();

}  // namespace assay

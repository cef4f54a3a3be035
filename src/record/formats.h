// SPDX-License-Identifier: Apache-2.0
//
// Rows as text: an aligned table for people, JSON, JSON lines, CSV (RFC 4180) and Markdown for
// machines and documents. All are pure functions of the rows and their schema.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"
#include "record/schema.h"

namespace assay {

enum class Format : unsigned char { kTable, kJson, kJsonl, kCsv, kMarkdown };
Result<Format> parse_format(std::string_view name);  // table, json, jsonl, csv, md

struct FormatOptions {
  Format format = Format::kTable;
  int width = 0;  // of the terminal; longer cells are shortened with "…" ; 0: unlimited
  bool colour = false;
};

// What the process' stdout allows: width of the terminal, colour only there and without NO_COLOR.
FormatOptions stdout_options(Format format);

// `rows` is a JSON list. JSON is {"schema":"assay/1","command":...,"rows":[...]}; the text ends
// with a newline.
std::string format_rows(const RowSchema& schema, const Json& rows, const FormatOptions& options);

// A value of a field for people: "1.23 ms", "97.5 MiB", "12,345/s"; null is "–".
std::string human_value(const Field& field, const Json& value);

}  // namespace assay

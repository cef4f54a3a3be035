// SPDX-License-Identifier: Apache-2.0
//
// Tables of a page. A cell that shows a number of a record carries the field, the exact value and
// the record's number as data- attributes: what is read is rounded, what is kept is not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/record.h"
#include "record/schema.h"
#include "report/html.h"

namespace assay {

struct HtmlCell {
  std::string text;
  bool is_number = false;
  std::string range = {};         // "4,300/s – 4,343/s", shown small beside
  std::string field = {};         // data-field
  std::string value = {};         // data-value: shortest text that reads back to the same double
  int64_t record = 0;             // data-record
  std::string missing = {};       // why there is none: collected under the table
  std::string status = {};        // drawn as a badge
  const Record* cased = nullptr;  // the case of this record, to open and copy
};

// A number with its unit, kept on one line: blanks become no-break spaces.
std::string unbroken(std::string text);

HtmlCell text_cell(std::string text);
HtmlCell status_cell(Status status);
// "#12", which opens to the case line.
HtmlCell case_cell(const Record& record);
// A number that was computed for the page; `statistic` names it ("median").
HtmlCell number_cell(const std::string& statistic, const Field& unit, std::optional<double> value,
                     const std::string& missing = "");

// The fields of one record, by the schema of the command "study", which has them all.
class RecordRow {
 public:
  explicit RecordRow(const Record& record);
  // The field for people, with its interval where the metric has one.
  HtmlCell cell(std::string_view field) const;

 private:
  const Record& record_;
  Json row_;
};

struct HtmlTable {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<HtmlCell>> rows;
};

// In a box that scrolls by itself on narrow screens; below it, why cells are empty. Columns in
// which no row has anything are left out.
void write_table(Html& html, const HtmlTable& table);

// A field of the schema, for its unit; asserts that it exists.
const Field& schema_field(std::string_view name);
// A field that only has a unit: "s", "ns" ...
Field unit_field(std::string unit);

}  // namespace assay

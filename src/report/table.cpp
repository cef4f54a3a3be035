// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>

#include "base/text.h"
#include "record/formats.h"
#include "record/row.h"

namespace assay {
namespace {

const RowSchema& study_schema() {
  static const RowSchema* schema = find_row_schema("study");
  ASSAY_ASSERT(schema != nullptr, "study");
  return *schema;
}

bool is_blank(const HtmlCell& cell) {
  return cell.text.empty() && cell.status.empty() && cell.cased == nullptr;
}

void write_case(Html& html, const Record& record) {
  html.open("details", {{"class", "case"}});
  html.element("summary", "#" + std::to_string(record.id));
  html.element("code", record.measured_case.text());
  html.close();
}

void write_cell(Html& html, const HtmlCell& cell) {
  const std::string record = cell.record > 0 ? std::to_string(cell.record) : "";
  constexpr size_t kLong = 24;  // texts that need room of their own on a phone
  const std::string style = cell.is_number ? "n" : cell.text.size() > kLong ? "w" : "";
  if (cell.field.empty()) {
    html.open("td", {{"class", style}});
  } else {
    html.open("td", {{"class", style},
                     {"data-field", cell.field},
                     {"data-value", cell.value},
                     {"data-record", record}});
  }
  if (cell.cased != nullptr) {
    write_case(html, *cell.cased);
  } else if (!cell.status.empty()) {
    html.element("span", cell.status, {{"class", "status " + cell.status}});
  } else if (!cell.missing.empty()) {
    html.element("span", "–", {{"title", cell.missing}});
  } else {
    html.text(cell.text);
  }
  if (!cell.range.empty()) html.element("small", cell.range);
  html.close();
}

std::vector<size_t> used_columns(const HtmlTable& table) {
  std::vector<size_t> used;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const bool any = std::any_of(table.rows.begin(), table.rows.end(),
                                 [i](const auto& row) { return !is_blank(row[i]); });
    if (any) used.push_back(i);
  }
  return used;
}

// One line a reason: "p99.9 (rows 1, 3): needs 3688 samples".
void write_reasons(Html& html, const HtmlTable& table) {
  std::vector<std::string> lines;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    for (const auto& row : table.rows) {
      if (row[column].missing.empty()) continue;
      std::string line = table.columns[column] + ": " + row[column].missing;
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  if (lines.empty()) return;
  html.open("details", {{"class", "reasons"}});
  html.element("summary", "Why some cells are empty");
  html.open("ul");
  for (const std::string& line : lines) html.element("li", line);
  html.close().close();
}

std::string interval_text(const Field& field, const Interval& interval) {
  return human_value(field, Json(interval.low)) + " to " + human_value(field, Json(interval.high));
}

}  // namespace

std::string unbroken(std::string text) {
  for (size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at)) {
    text.replace(at, 1, "\u00a0");
  }
  return text;
}

HtmlCell text_cell(std::string text) { return {std::move(text)}; }

HtmlCell status_cell(Status status) {
  HtmlCell cell;
  cell.status = std::string(status_name(status));
  return cell;
}

HtmlCell case_cell(const Record& record) {
  HtmlCell cell;
  cell.cased = &record;
  return cell;
}

HtmlCell number_cell(const std::string& statistic, const Field& unit, std::optional<double> value,
                     const std::string& missing) {
  HtmlCell cell;
  cell.is_number = true;
  cell.field = statistic;
  if (value) {
    cell.text = human_value(unit, Json(*value));
    cell.value = shortest(*value);
  } else {
    cell.missing = missing.empty() ? "not available" : missing;
  }
  return cell;
}

RecordRow::RecordRow(const Record& record)
    : record_(record), row_(row_of(record, study_schema())) {}

HtmlCell RecordRow::cell(std::string_view name) const {
  const Field& field = schema_field(name);
  const Json& value = row_[field.name];
  HtmlCell cell;
  cell.field = field.name;
  cell.record = record_.id;
  cell.is_number = field.type == FieldType::kInteger || field.type == FieldType::kNumber;
  if (value.is_null()) {
    cell.missing = row_["missing"][field.name].get<std::string>();
    return cell;
  }
  cell.text = human_value(field, value);
  cell.value = value.is_number() ? shortest(value.get<double>()) : cell.text;
  if (field.source != FieldSource::kMetric) return cell;
  const Metric* metric = record_.metric(field.from);
  if (metric != nullptr && metric->interval) cell.range = interval_text(field, *metric->interval);
  return cell;
}

void write_table(Html& html, const HtmlTable& table) {
  const std::vector<size_t> used = used_columns(table);
  if (used.empty()) return;
  html.open(
      "div",
      {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", table.caption}});
  // The span lets a narrow page wrap what would follow the table's own width.
  html.open("table").open("caption").element("span", table.caption).close();
  html.open("thead").open("tr");
  for (const size_t i : used) {
    const bool is_number = std::any_of(table.rows.begin(), table.rows.end(),
                                       [i](const auto& row) { return row[i].is_number; });
    html.element("th", table.columns[i], {{"scope", "col"}, {"class", is_number ? "n" : ""}});
  }
  html.close().close().open("tbody");
  for (const auto& row : table.rows) {
    html.open("tr");
    for (const size_t i : used) write_cell(html, row[i]);
    html.close();
  }
  html.close().close().close();
  write_reasons(html, table);
}

const Field& schema_field(std::string_view name) {
  const Field* field = study_schema().field(name);
  ASSAY_ASSERT(field != nullptr, name);
  return *field;
}

Field unit_field(std::string unit) {
  Field field;
  field.type = FieldType::kNumber;
  field.unit = std::move(unit);
  return field;
}

}  // namespace assay

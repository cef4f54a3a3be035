// SPDX-License-Identifier: Apache-2.0
//
// The machine and its software, as kept with the records.
#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/pages.h"
#include "report/table.h"

namespace assay::pages {
namespace {

std::string scalar_text(const std::string& name, const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() && name.ends_with("bytes")) {
    return human_bytes(Bytes{value.get<int64_t>()});
  }
  if (value.is_number()) return shortest(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// {"level": 2, "bytes": 2097152} is "level 2, bytes 2 MiB".
std::string inline_text(const std::string& name, const Json& value) {
  if (!value.is_structured()) return scalar_text(name, value);
  if (value.empty()) return "none";
  std::vector<std::string> parts;
  for (const auto& [key, entry] : value.items()) {
    const std::string text = inline_text(value.is_object() ? key : name, entry);
    parts.push_back(value.is_object() ? key + " " + text : text);
  }
  return join(parts, ", ");
}

void add_rows(HtmlTable& table, const std::string& name, const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, entry] : value.items()) {
      add_rows(table, name.empty() ? key : name + "." + key, entry);
    }
    return;
  }
  const bool lists_objects = value.is_array() && !value.empty() && value.front().is_structured();
  if (!lists_objects) {
    HtmlCell cell = text_cell(inline_text(name, value));
    cell.field = name;
    cell.value = value.is_string() ? value.get<std::string>()
                                   : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    table.rows.push_back({text_cell(name), std::move(cell)});
    return;
  }
  size_t index = 0;
  for (const Json& entry : value) {
    table.rows.push_back(
        {text_cell(name + " " + std::to_string(++index)), text_cell(inline_text(name, entry))});
  }
}

bool applies(const ReportData&) { return true; }

void write(const ReportData& data, Html& html) {
  if (data.environments.empty()) {
    html.element("p", "No environment was kept with these records.");
    return;
  }
  if (data.environments.size() > 1) {
    html.element("p",
                 "These records come from " + std::to_string(data.environments.size()) +
                     " different environments; results are grouped by environment.",
                 {{"class", "note"}});
  }
  for (const auto& entry : data.environments) {
    const auto& id = entry.first;  // clang 14 cannot take bindings into a lambda
    const auto& environment = entry.second;
    const auto count = std::count_if(data.records.begin(), data.records.end(),
                                     [&](const Record& r) { return r.environment_id == id; });
    HtmlTable table{
        "Environment " + id + " (" + std::to_string(count) + " records)", {"field", "value"}, {}};
    add_rows(table, "", environment);
    write_table(html, table);
  }
}

}  // namespace

Page environment() { return {"environment", "Environment", applies, write}; }

}  // namespace assay::pages

// SPDX-License-Identifier: Apache-2.0
//
// Every case with its record's number: what the tables above refer to.
#include "base/clock.h"
#include "record/digest.h"
#include "record/formats.h"
#include "report/pages.h"
#include "report/table.h"

namespace assay::pages {
namespace {

bool applies(const ReportData&) { return true; }

HtmlTable runs_table(const ReportData& data) {
  HtmlTable table{"Commands", {"run", "command", "started"}, {}};
  for (const Run& run : data.runs) {
    table.rows.push_back(
        {text_cell(run.run_id), text_cell(run.command), text_cell(iso8601(run.started_at))});
  }
  return table;
}

void write_cases(Html& html, const ReportData& data) {
  html.open(
      "div",
      {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", "Every case"}});
  html.open("table", {{"class", "cases"}}).element("caption", "Every case");
  html.open("thead").open("tr");
  for (const char* column : {"#", "case", "status", "started", "took", "digest", "version"}) {
    html.element("th", column, {{"scope", "col"}});
  }
  html.close().close().open("tbody");
  for (const Record& record : data.records) {
    html.open("tr", {{"id", "record-" + std::to_string(record.id)}});
    html.element("td", "#" + std::to_string(record.id));
    html.open("td").element("code", record.measured_case.text(), {{"class", "case-line"}}).close();
    const std::string status(status_name(record.status));
    html.open("td").element("span", status, {{"class", "status " + status}}).close();
    html.element("td", iso8601(record.started_at));
    html.element("td", human_value(unit_field("s"), Json(record.duration_s)), {{"class", "n"}});
    html.element("td", short_digest(record.digest), {{"title", record.digest}});
    html.element("td", record.code_version);
    html.close();
  }
  html.close().close().close();
}

void write(const ReportData& data, Html& html) {
  html.open("p").text("Run one again with ");
  html.element("code", "assay … --case 'CASE'").text(", with the case line in place of CASE. ");
  html.text("Results may be compared where their digests are equal.").close();
  write_cases(html, data);
  const HtmlTable runs = runs_table(data);
  if (!runs.rows.empty()) write_table(html, runs);
}

}  // namespace

Page cases() { return {"cases", "Every case", applies, write}; }

}  // namespace assay::pages

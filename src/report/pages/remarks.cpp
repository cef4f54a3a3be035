// SPDX-License-Identifier: Apache-2.0
//
// Failures and remarks: whatever is not simply "measured".
#include <algorithm>

#include "base/text.h"
#include "report/pages.h"
#include "report/table.h"

namespace assay::pages {
namespace {

bool is_remarkable(const Record& record) {
  return record.status != Status::kMeasured || !record.marks.empty() || !record.reason.empty();
}

bool applies(const ReportData&) { return true; }

void write(const ReportData& data, Html& html) {
  HtmlTable table{"Records with a remark", {"status", "reason", "marks", "case"}, {}};
  for (const Record& record : data.records) {
    if (!is_remarkable(record)) continue;
    HtmlCell reason = text_cell(record.reason);
    reason.field = "reason";
    reason.value = record.reason;
    reason.record = record.id;
    table.rows.push_back({status_cell(record.status), std::move(reason),
                          text_cell(join(record.marks, "; ")), case_cell(record)});
  }
  if (table.rows.empty()) {
    html.element("p", "Every case was measured, without a remark.");
    return;
  }
  write_table(html, table);
}

}  // namespace

Page remarks() { return {"remarks", "Failures and remarks", applies, write}; }

}  // namespace assay::pages

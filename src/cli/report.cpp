// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include "base/json.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "record/store.h"

namespace assay::cli {
namespace {

int run_report(const Invocation& invocation) {
  const Store store = value_or_fail(Store::open_read_only(invocation.value_or("--db", "assay.db")));
  ReportOptions options;
  options.run_id = invocation.value("--run");
  options.title = invocation.value_or("--title", options.title);
  const ReportResult result =
      value_or_fail(write_report(store, options, invocation.value_or("--out", "report.html")));
  print_rows(invocation, "report", "", Json::array({report_values(result)}));
  return kExitDone;
}

Option value(std::string name, std::string value_name, std::string doc, std::string fallback) {
  return {.name = std::move(name),
          .kind = OptionKind::kValue,
          .value_name = std::move(value_name),
          .doc = std::move(doc),
          .default_text = std::move(fallback),
          .choices = {}};
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary = "one self-contained HTML file from a database; it opens offline",
          .description = "",
          .positionals = {},
          .options = {value("--out", "FILE", "the file to write", "report.html"),
                      value("--run", "ID", "only the records of one run", "all"),
                      value("--title", "TEXT", "the heading", "Assay report"), db_option(),
                      format_option()},
          .conflicts = {},
          .examples = {"assay report --db assay.db --out report.html"},
          .run = run_report};
}

}  // namespace assay::cli

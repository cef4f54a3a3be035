// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "data/dataset.h"

namespace assay::cli {
namespace {

Json dataset_row(const DatasetStatus& status) {
  Json row{{"name", status.name},       {"prepared", status.state == DatasetState::kReady},
           {"license", status.license}, {"package", status.source},
           {"path", status.path},       {"reason", status.reason}};
  if (status.size)
    row["size_bytes"] = status.size->count;
  else
    row["missing"]["size_bytes"] = status.reason.empty() ? "not known" : status.reason;
  if (!is_usable(status.state)) row["status"] = "skipped";
  return row;
}

// The named sets, or every one; the nearest name helps with a slip.
std::vector<DatasetStatus> chosen(const DatasetCatalogue& catalogue,
                                  const std::vector<std::string>& names) {
  if (names.empty()) return catalogue.list();
  std::vector<DatasetStatus> statuses;
  for (const std::string& name : names) statuses.push_back(value_or_fail(catalogue.status(name)));
  return statuses;
}

// Data sets that the user must bring are left alone unless named.
int prepare(const DatasetCatalogue& catalogue, const std::vector<std::string>& names, Json& rows) {
  int code = kExitDone;
  for (const DatasetStatus& before : chosen(catalogue, names)) {
    if (names.empty() && before.state == DatasetState::kMissing) {
      std::fputs(fmt::format("{}: skipped: {}\n", before.name, before.reason).c_str(), stderr);
      continue;
    }
    std::fputs(fmt::format("{}: {}\n", before.name, before.terms).c_str(), stderr);
    const Result<DatasetStatus> after = catalogue.prepare(before.name);
    if (after.ok()) {
      rows.push_back(dataset_row(*after));
      continue;
    }
    if (names.size() == 1) fail(after.error());
    Json row = dataset_row(before);
    row["status"] = "failed";
    row["reason"] = after.error().text();
    rows.push_back(std::move(row));
    code = kExitCaseFailed;
  }
  return code;
}

int run_data(const Invocation& invocation) {
  std::vector<std::string> names = invocation.positionals;
  const std::string action = names.empty() ? "list" : names.front();
  if (!names.empty()) names.erase(names.begin());
  const DatasetCatalogue catalogue(DataRoots::from_environment());
  Json rows = Json::array();
  int code = kExitDone;
  if (action == "list") {
    for (const DatasetStatus& status : chosen(catalogue, names))
      rows.push_back(dataset_row(status));
  } else if (action == "prepare") {
    code = prepare(catalogue, names, rows);
  } else {
    const std::vector<std::string> actions{"list", "prepare"};
    const auto nearest = nearest_name(action, actions);
    throw UserError(fmt::format("'{}' is neither list nor prepare", action), "assay data",
                    nearest ? fmt::format("did you mean 'assay data {}'?", *nearest)
                            : "see 'assay data --help'");
  }
  print_rows(invocation, "data", "", rows);
  return code;
}

}  // namespace

Command data_command() {
  return {.name = "data",
          .summary = "lists the real data sets, or converts them for use",
          .description =
              "'prepare' without names converts every set whose files are here. Workloads "
              "prepare what they need by themselves; this command does it beforehand.",
          .positionals = {{"ACTION", "list or prepare [default: list]", false},
                          {"NAME", "data sets; all when left out", false, true}},
          .options = {format_option()},
          .conflicts = {},
          .examples = {"assay data prepare fashion-mnist"},
          .run = run_data};
}

}  // namespace assay::cli

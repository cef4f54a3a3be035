// SPDX-License-Identifier: Apache-2.0
//
// The report: one HTML file made from the records of a store, and from nothing else. It opens
// offline, reads without scripts, at phone width and in print; with scripts and Plotly its plots
// can be zoomed. Every number is in a table cell that names its record (data-record) and exact
// value (data-value), and every record's case can be copied and run again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json_fwd.h"

namespace assay {

class Store;

struct ReportOptions {
  std::optional<std::string> run_id = {};  // else every record of the store
  std::string title = "Assay report";
  // plotly.min.js; empty: that of ASSAY_HOME/report. Without one, plots stay static.
  std::filesystem::path plotly = {};
};

struct ReportResult {
  std::filesystem::path path;
  int64_t size_bytes = 0;
  int64_t records = 0;
  int64_t failures = 0;  // records without a result
  std::string plots;     // "interactive", or "static (reason)"
};

// Writes beside and renames: an old report stays until the new one is whole. kNotFound when there
// are no records.
Result<ReportResult> write_report(const Store& store, const ReportOptions& options,
                                  const std::filesystem::path& path);

// The values of the row of `assay report`, for make_row.
Json report_values(const ReportResult& result);

}  // namespace assay

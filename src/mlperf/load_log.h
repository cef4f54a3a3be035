// SPDX-License-Identifier: Apache-2.0
//
// A load test as the logs of MLPerf's load generator, in the form its tools read: summary, detail
// (":::MLLOG" lines, LoadGen 6.0's keys in its order) and accuracy. Differences, on purpose:
// strings are escaped, times of day are UTC, the two ends of the powered interval are marked as
// ends, a key assay_unofficial names what keeps the run from being official, and every rate has all
// its digits. Pure but for write_load_logs.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "serve/run.h"

namespace assay {

// `generator` names us and our version.
std::string load_summary(const LoadReport& report);
std::string load_detail(const LoadReport& report, const std::string& generator);
std::string load_accuracy(const LoadReport& report);

// mlperf_log_summary.txt, mlperf_log_detail.txt and mlperf_log_accuracy.json in an existing folder.
Result<void> write_load_logs(const LoadReport& report, const std::string& generator,
                             const std::filesystem::path& folder);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What the summary and the detail log of a load test both say. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serve/run.h"

namespace assay {

int64_t load_remarks(const LoadReport& report, LoadRemark::Kind kind);
// Why the run is not valid; empty for a valid one.
std::vector<std::string> load_reasons(const LoadReport& report);
std::vector<std::string> early_stopping_lines(const LoadReport& report);

}  // namespace assay

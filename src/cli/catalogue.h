// SPDX-License-Identifier: Apache-2.0
//
// What there is to name on a command line, read from the share folder. Costs a few milliseconds;
// loads no engine.
#pragma once

#include <string>
#include <vector>

#include "workload/workload.h"

namespace assay::cli {

std::vector<Workload> all_workloads();  // sorted by name
std::vector<std::string> all_model_names();
std::vector<std::string> all_study_names();
// The file of a study named so, or the path itself when it ends in ".toml".
std::string study_file(const std::string& name);

}  // namespace assay::cli

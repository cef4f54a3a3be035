// SPDX-License-Identifier: Apache-2.0
//
// Options to cases: names are resolved, lists and ranges expanded, the order shuffled. Everything
// the user got wrong is a UserError here, before anything runs.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "record/case.h"
#include "study/sweep.h"

namespace assay::cli {

// The cases of `activity` for the positionals (workloads or models) and the case options that the
// user gave; or the one of --case.
std::vector<Case> cases_of(const Invocation& invocation, const std::string& activity);

// What a name on the command line means: "workload:NAME" and "model:NAME" say it, otherwise a
// workload is meant first; "all" is every workload that has the variant.
std::vector<std::pair<std::string, std::string>> resolve_target(const std::string& name,
                                                                const std::string& variant);

// What would make every record of a case a failure is the user's error before anything runs: an
// unknown workload, variant or recipe key, an unknown engine, no engine that is available.
void check_cases(const std::vector<Case>& cases);

// Converts the data sets that the cases need and whose files are here; what cannot be had stays for
// the record of its case to name. Says on stderr what it does.
void prepare_data(const std::vector<Case>& cases);

// The product of a sweep, shuffled by --order-seed.
std::vector<Case> shuffled_cases(const Invocation& invocation, const Sweep& sweep);

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// The options that several commands share (CONTRACT's common rules), as data.
#pragma once

#include <initializer_list>
#include <vector>

#include "cli/command.h"

namespace assay::cli {

Option format_option();
Option db_option();
std::vector<Option> case_options();  // engine, device, precision, batch, threads, seed, set, case
std::vector<Option> measuring_options();  // stopping rule, timeout, order, resume, strict, dry run
// What stands for an organisation that nobody has named: nothing is invented.
inline constexpr const char* kNoOrganisation = "unknown";
// --case names a whole case: no option that is a part of one may stand beside it.
Conflict case_conflict(const std::vector<Option>& options);

// A number of samples leaves nothing for the other stopping rules to say.
Conflict repeat_conflict();

std::vector<Option> joined(std::initializer_list<std::vector<Option>> parts);

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// --dry-run: the cases with what each would compute, move and take; measures nothing, loads no
// engine and no data.
#pragma once

#include <span>

#include "cli/command.h"
#include "measure/stopping.h"
#include "record/case.h"

namespace assay::cli {

int print_plan(const Invocation& invocation, std::span<const Case> cases,
               const StoppingOptions& stopping);

}  // namespace assay::cli

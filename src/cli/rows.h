// SPDX-License-Identifier: Apache-2.0
//
// Rows of commands that measure nothing, printed in the format the user asked for.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "cli/command.h"

namespace assay::cli {

// Prints `rows` (a JSON list of objects with some fields of the schema) by --format.
void print_rows(const Invocation& invocation, std::string_view command, std::string_view kind,
                const Json& rows);

}  // namespace assay::cli

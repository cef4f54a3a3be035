// SPDX-License-Identifier: Apache-2.0
//
// Arguments to Invocation. CLI11 does the parsing and is included in this component's parser.cpp
// only: it costs two seconds of compile time a file.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace assay::cli {

// Parses what follows the command's name. Throws UserError for an unknown option (with the nearest
// name), a missing or repeated value, a value outside an option's choices, too few or too many
// positionals, and options that contradict each other. "--help" sets options["--help"] and nothing
// else is checked.
Invocation parse(const Command& command, std::span<const std::string> arguments);

}  // namespace assay::cli

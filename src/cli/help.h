// SPDX-License-Identifier: Apache-2.0
//
// Help texts, made from the command tables. All functions are pure; help is wrapped at 100 columns.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace assay::cli {

std::string overview_text(std::span<const Command> commands);  // assay --help
std::string command_text(const Command& command);              // assay COMMAND --help
// docs/commands.md: every command with its options as tables.
std::string commands_markdown(std::span<const Command> commands);
std::string usage_line(const Command& command);  // "assay train [OPTIONS] WORKLOAD..."

}  // namespace assay::cli

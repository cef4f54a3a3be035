// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/output.h"

namespace assay::cli {
namespace {

int run_help(const Invocation& invocation) {
  if (invocation.has("--markdown")) {
    write_result(commands_markdown(commands()));
    return kExitDone;
  }
  if (invocation.positionals.empty()) {
    write_result(overview_text(commands()));
    return kExitDone;
  }
  const std::string& name = invocation.positionals[0];
  const Command* command = find_command(name);
  if (command == nullptr) {
    std::vector<std::string> names;
    for (const Command& known : commands()) names.push_back(known.name);
    const auto nearest = nearest_name(name, names);
    throw UserError(fmt::format("unknown command '{}'", name), "assay help",
                    nearest ? fmt::format("did you mean '{}'?", *nearest) : "see 'assay --help'");
  }
  write_result(command_text(*command));
  return kExitDone;
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .summary = "explains a command",
          .description = "",
          .positionals = {{"COMMAND", "the command to explain", false}},
          .options = {{.name = "--markdown",
                       .kind = OptionKind::kFlag,
                       .value_name = "",
                       .doc = "every command, as docs/commands.md",
                       .default_text = "",
                       .choices = {}}},
          .conflicts = {},
          .examples = {},
          .run = run_help};
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
#include "record/schema.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "record/formats.h"
#include "record/row.h"

namespace assay::cli {
namespace {

int run_schema(const Invocation& invocation) {
  const std::string command = invocation.positionals.empty() ? "" : invocation.positionals[0];
  std::vector<std::string> names;
  for (const RowSchema& schema : row_schemas()) names.push_back(schema.command);
  if (!command.empty() && std::find(names.begin(), names.end(), command) == names.end()) {
    const auto nearest = nearest_name(command, names);
    throw UserError(fmt::format("'{}' is no command with rows", command), "assay schema",
                    nearest ? fmt::format("did you mean '{}'?", *nearest) : "see 'assay schema'");
  }
  const Format format = value_or_fail(parse_format(invocation.value_or("--format", "table")));
  write_result(
      format_rows(*find_row_schema("schema"), schema_rows(command), stdout_options(format)));
  return kExitDone;
}

}  // namespace

Command schema_command() {
  return {.name = "schema",
          .summary = "the fields of a command's rows",
          .description =
              "The same fields appear in every format and in the database. Within "
              "assay/1 fields are only added.",
          .positionals = {{"COMMAND", "whose rows; all commands when left out", false}},
          .options = {format_option()},
          .conflicts = {},
          .examples = {"assay schema train --format md"},
          .run = run_schema};
}

}  // namespace assay::cli

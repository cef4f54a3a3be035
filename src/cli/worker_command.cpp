// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "study/worker.h"

namespace assay::cli {

Command worker_command() {
  return {.name = "worker",
          .summary = "takes cases from stdin and answers on stdout; started by other commands",
          .description = "",
          .positionals = {},
          .options = {},
          .conflicts = {},
          .examples = {},
          .run = [](const Invocation&) { return worker_main(); },
          .hidden = true};
}

}  // namespace assay::cli

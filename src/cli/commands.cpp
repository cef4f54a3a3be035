// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

namespace assay::cli {

std::span<const Command> commands() {
  static const std::vector<Command> all{
      list_command(),   env_command(),    doctor_command(), data_command(),  profile_command(),
      export_command(), run_command(),    infer_command(),  train_command(), sweep_command(),
      study_command(),  report_command(), schema_command(), help_command(),  worker_command(),
  };
  return all;
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// One function a command, each in the file of its name; commands.cpp lists them.
#pragma once

#include "cli/command.h"

namespace assay::cli {

Command list_command();
Command env_command();
Command doctor_command();
Command data_command();
Command profile_command();
Command export_command();
Command run_command();
Command infer_command();
Command train_command();
Command sweep_command();
Command study_command();
Command report_command();
Command schema_command();
Command help_command();
Command worker_command();

}  // namespace assay::cli

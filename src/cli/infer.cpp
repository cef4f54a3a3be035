// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/error.h"
#include "cli/cases.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/session.h"

namespace assay::cli {
namespace {

int run_infer(const Invocation& invocation) {
  const std::string weights = invocation.value_or("--checkpoint", "");
  std::error_code ignored;
  if (!weights.empty() && !std::filesystem::is_regular_file(weights, ignored))
    throw UserError("there is no such file of weights: " + weights, "--checkpoint",
                    "'assay train' leaves them beside its database");
  return measure_cases(invocation, "infer", cases_of(invocation, "infer"));
}

}  // namespace

Command infer_command() {
  const std::vector<Option> cases = case_options();
  return {
      .name = "infer",
      .summary = "measures inference: throughput, latency and, for a workload, accuracy",
      .description =
          "Calls of one batch, one after the other, until the mean is known well enough. Accuracy "
          "is measured with the weights that 'assay train' left beside the database, or with those "
          "of --checkpoint; without either it is missing, and the row says so.",
      .positionals = {{"NAME", "a workload or a model; 'workload:NAME' and 'model:NAME' say which",
                       false, true}},
      .options = joined({{{.name = "--checkpoint",
                           .kind = OptionKind::kValue,
                           .value_name = "FILE",
                           .doc = "trained weights (safetensors)",
                           .default_text = "",
                           .choices = {},
                           .group = "Options of inference"}},
                         cases,
                         measuring_options()}),
      .conflicts = {case_conflict(cases), repeat_conflict()},
      .examples = {"assay infer image-classification --batch 1,8,64 --precision f32,bf16"},
      .run = run_infer};
}

}  // namespace assay::cli

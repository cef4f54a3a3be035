// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/error.h"
#include "cli/cases.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"

namespace assay::cli {
namespace {

int run_train(const Invocation& invocation) {
  if (invocation.has("--organisation") && !invocation.has("--mllog"))
    throw UserError("--organisation is for the MLPerf log, and none is asked for", "--organisation",
                    "add --mllog FILE, or leave it out");
  if (const auto log = invocation.value("--mllog")) check_can_be_written(*log, "--mllog");
  std::vector<Case> cases = cases_of(invocation, "train");
  for (const Case& one : cases)
    if (one.get("workload").empty())
      throw UserError(fmt::format("model '{}' cannot be trained: it has no data and no target",
                                  one.get("model")),
                      "assay train", "name a workload; see 'assay list workloads'");
  return measure_cases(invocation, "train", std::move(cases));
}

Option value(std::string name, std::string value_name, std::string doc,
             std::optional<NumberRule> number = std::nullopt) {
  return {.name = std::move(name),
          .kind = OptionKind::kValue,
          .value_name = std::move(value_name),
          .doc = std::move(doc),
          .default_text = "",
          .choices = {},
          .group = "Options of training",
          .number = number};
}

Option organisation_option() {
  Option option = value("--organisation", "NAME", "who runs it, for the MLPerf log");
  option.default_text = kNoOrganisation;
  return option;
}

}  // namespace

Command train_command() {
  const std::vector<Option> cases = case_options();
  Conflict whole_case = case_conflict(cases);
  for (const char* name : {"--seeds", "--steps", "--epochs"}) whole_case.others.emplace_back(name);
  return {
      .name = "train",
      .summary = "trains a workload to its quality target, or for so many steps",
      .description =
          "One row a seed. The time to target follows MLPerf's clock: from the first batch to the "
          "evaluation that meets the target. The weights are kept beside the database, where "
          "'assay infer' finds them.",
      .positionals = {{"WORKLOAD", "what to train; 'all' is every workload of the variant", false,
                       true}},
      .options = joined({{value("--seeds", "N", "seeds 0 to N-1", whole(1, 100'000)),
                          value("--steps", "N", "so many steps without target: throughput only",
                                rule_of_case_key("steps")),
                          value("--epochs", "N", "so many epochs instead of the recipe's",
                                rule_of_case_key("epochs")),
                          value("--mllog", "FILE",
                                "writes the MLPerf training log; with several "
                                "seeds one a seed, FILE-seedN"),
                          organisation_option()},
                         cases,
                         measuring_options()}),
      .conflicts = {{"--steps", {"--epochs"}},
                    {"--seeds", {"--seed"}},
                    whole_case,
                    repeat_conflict()},
      .examples =
          {"assay train image-classification --seeds 3",
           "assay train image-classification --steps 200 --precision f32,bf16 --threads 1-2"},
      .run = run_train};
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/cases.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/session.h"

namespace assay::cli {
namespace {

int run_sweep(const Invocation& invocation) {
  return measure_cases(invocation, "sweep",
                       cases_of(invocation, invocation.value_or("--activity", "infer")));
}

}  // namespace

Command sweep_command() {
  std::vector<Option> cases = case_options();
  const std::string group = cases.front().group;
  const auto list = [&](std::string name, std::string value, std::string doc,
                        std::vector<std::string> choices = {}) {
    Option option{.name = std::move(name),
                  .kind = OptionKind::kList,
                  .value_name = std::move(value),
                  .doc = std::move(doc),
                  .default_text = "",
                  .choices = std::move(choices),
                  .group = group};
    if (option.value_name == "N") option.number = rule_of_case_key(option.name.substr(2));
    return option;
  };
  cases.push_back(list("--steps", "N", "train so many steps"));
  cases.push_back(list("--epochs", "N", "train so many epochs"));
  cases.push_back(list("--level", "N", "optimisation level of the engine, 0 to 2"));
  Option activity = list("--activity", "NAME", "what is done", {"infer", "train"});
  activity.kind = OptionKind::kValue;
  activity.default_text = "infer";
  cases.insert(cases.begin(), activity);
  return {
      .name = "sweep",
      .summary = "measures any product of case options",
      .description =
          "Every option of a case may be a list or a range; the cases are their "
          "product, in an order shuffled by --order-seed.",
      .positionals = {{"NAME", "workloads or models", false, true}},
      .options = joined({cases, measuring_options()}),
      .conflicts = {{"--steps", {"--epochs"}}, case_conflict(cases), repeat_conflict()},
      .examples = {"assay sweep image-classification --batch 1-256*2 --threads 1,2",
                   "assay sweep image-classification --activity train --steps 100 --batch 64,128"},
      .run = run_sweep};
}

}  // namespace assay::cli

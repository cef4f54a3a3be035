// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

namespace assay::cli {
namespace {

constexpr const char* kCaseGroup = "Options of a case (any may be a list)";
constexpr const char* kMeasuringGroup = "Options of measuring";
constexpr const char* kOutputGroup = "Options of output";

Option case_list(std::string name, std::string value, std::string doc, std::string fallback,
                 std::vector<std::string> choices = {}) {
  Option option{.name = std::move(name),
                .kind = OptionKind::kList,
                .value_name = std::move(value),
                .doc = std::move(doc),
                .default_text = std::move(fallback),
                .choices = std::move(choices),
                .group = kCaseGroup};
  if (option.value_name == "N") option.number = rule_of_case_key(option.name.substr(2));
  return option;
}

Option measuring(std::string name, std::string value, std::string doc, std::string fallback = "",
                 std::optional<NumberRule> number = std::nullopt) {
  const OptionKind kind = value.empty() ? OptionKind::kFlag : OptionKind::kValue;
  return {.name = std::move(name),
          .kind = kind,
          .value_name = std::move(value),
          .doc = std::move(doc),
          .default_text = std::move(fallback),
          .choices = {},
          .group = kMeasuringGroup,
          .number = number};
}

}  // namespace

Option format_option() {
  return {.name = "--format",
          .kind = OptionKind::kValue,
          .value_name = "FORMAT",
          .doc = "how rows are printed",
          .default_text = "table",
          .choices = {"table", "json", "jsonl", "csv", "md"},
          .group = kOutputGroup};
}

Option db_option() {
  return {.name = "--db",
          .kind = OptionKind::kValue,
          .value_name = "FILE",
          .doc = "the database of records",
          .default_text = "assay.db",
          .choices = {},
          .group = kOutputGroup};
}

std::vector<Option> case_options() {
  return {
      case_list("--variant", "NAME", "size of the workload: small or reference", "small"),
      case_list("--engine", "NAME", "framework that runs it; see 'assay list engines'", "torch"),
      case_list("--device", "NAME", "device of the engine: cpu, cuda:0, ...", "cpu"),
      case_list("--precision", "NAME", "precision policy", "f32",
                {"f32", "tf32", "bf16", "f16", "int8"}),
      case_list("--batch", "N", "items a step or call", "the recipe's"),
      case_list("--threads", "N", "threads of the engine", "every core"),
      case_list("--seed", "N", "key of every random draw", "0"),
      case_list("--set", "KEY=VALUE", "overrides a number of the recipe, e.g. optimizer.rate=0.1",
                ""),
      {.name = "--case",
       .kind = OptionKind::kValue,
       .value_name = "TEXT",
       .doc = "runs exactly this printed case again",
       .default_text = "",
       .choices = {},
       .group = kMeasuringGroup},
  };
}

std::vector<Option> measuring_options() {
  return {
      measuring("--timeout", "SECONDS", "a case that takes longer is ended and recorded", "3600",
                above_zero()),
      measuring("--repeat", "N", "exactly so many samples instead of the stopping rule", "",
                whole(1)),
      measuring("--min-time", "SECONDS", "sample at least so long", "0.5", above_zero()),
      measuring("--max-time", "SECONDS", "sample at most so long", "10", above_zero()),
      measuring("--max-noise", "RATIO",
                "stop when the 95 % interval of the mean is within this part of it", "0.01",
                above_zero(1)),
      measuring("--memory-limit", "BYTES", "a worker that grows beyond is ended and recorded",
                "90 % of the machine's", whole(1, int64_t{1} << 50)),
      measuring("--price", "USD", "price of this machine an hour, for what the rows say of costs",
                "", above_zero()),
      measuring("--order-seed", "N", "the order of cases is shuffled by this", "0", any_seed()),
      measuring("--resume", "", "continue the same command after it was interrupted"),
      measuring("--strict", "", "exit with 1 also for skipped and unsupported cases"),
      measuring("--dry-run", "", "list the cases and what they cost; measure nothing"),
      db_option(),
      format_option(),
  };
}

Conflict case_conflict(const std::vector<Option>& options) {
  Conflict conflict{"--case", {}};
  for (const Option& option : options)
    if (option.group == kCaseGroup) conflict.others.push_back(option.name);
  return conflict;
}

Conflict repeat_conflict() { return {"--repeat", {"--min-time", "--max-time", "--max-noise"}}; }

std::vector<Option> joined(std::initializer_list<std::vector<Option>> parts) {
  std::vector<Option> all;
  for (const std::vector<Option>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace assay::cli

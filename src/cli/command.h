// SPDX-License-Identifier: Apache-2.0
//
// A command is data and a function: its option table makes the parser, --help and docs/commands.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/numbers.h"

namespace assay::cli {

enum class OptionKind : unsigned char {
  kFlag,
  kValue,  // given once
  kList    // comma list, range, or repeated
};

struct Option {
  std::string name;  // "--batch"
  OptionKind kind = OptionKind::kValue;
  std::string value_name;  // "N"
  std::string doc;
  std::string default_text;          // shown in help
  std::vector<std::string> choices;  // closed sets are checked, with the nearest match in the error
  std::string group = "Options";     // the heading in help
  std::optional<NumberRule> number = std::nullopt;  // of every value
};

struct Positional {
  std::string name;  // "WORKLOAD"
  std::string doc;
  bool required = true;
  bool repeated = false;
};

// `option` can't be given together with any of `others`.
struct Conflict {
  std::string option;
  std::vector<std::string> others;
};

// What the user gave.
class Invocation {
 public:
  std::string command_name;
  std::string command_line;  // as typed, for messages and records
  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>, std::less<>> options;  // "--batch" -> {"1", "4"}

  bool has(std::string_view name) const { return options.find(name) != options.end(); }
  std::optional<std::string> value(std::string_view name) const;
  std::string value_or(std::string_view name, std::string_view fallback) const;
  // Values of options with a NumberRule, which have been checked.
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<uint64_t> seed(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
};

struct Command {
  std::string name;
  std::string summary;      // one line, without a full stop
  std::string description;  // a paragraph for the command's own help
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::vector<Conflict> conflicts;
  std::vector<std::string> examples;
  int (*run)(const Invocation& invocation) = nullptr;  // returns the exit code; throws UserError
  bool hidden = false;                                 // not in help
};

// Every command, in the order of `assay --help`.
std::span<const Command> commands();
// Null when there is none of that name.
const Command* find_command(std::string_view name);

// Exit codes of CONTRACT.
inline constexpr int kExitDone = 0;
inline constexpr int kExitCaseFailed = 1;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitInternal = 3;
inline constexpr int kExitInterrupted = 130;

// Parses and runs; prints errors; returns the exit code of CONTRACT.
int run(int argc, char** argv);

}  // namespace assay::cli

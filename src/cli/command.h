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

namespace assay::cli {

enum class OptionKind : unsigned char {
  kFlag,
  kValue,
  kList
};  // kList: comma list, range, or repeated

struct Option {
  std::string name;  // "--batch"
  OptionKind kind = OptionKind::kValue;
  std::string value_name;  // "N"
  std::string doc;
  std::string default_text;          // shown in help
  std::vector<std::string> choices;  // closed sets are checked, with the nearest match in the error
};

struct Positional {
  std::string name;  // "WORKLOAD"
  std::string doc;
  bool required = true;
  bool repeated = false;
};

// What the user gave.
class Invocation {
 public:
  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>, std::less<>> options;  // "--batch" -> {"1", "4"}

  bool has(std::string_view name) const { return options.find(name) != options.end(); }
  std::optional<std::string> value(std::string_view name) const;
};

struct Command {
  std::string name;
  std::string summary;
  std::vector<Positional> positionals;
  std::vector<Option> options;
  int (*run)(const Invocation& invocation) = nullptr;  // returns the exit code; throws UserError
};

// Every command, in the order of `assay --help`.
std::span<const Command> commands();

// Parses and runs; prints errors; returns the exit code of CONTRACT.
int run(int argc, char** argv);

}  // namespace assay::cli

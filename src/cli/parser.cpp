// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <algorithm>
#include <list>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {
namespace {

std::string help_hint(const Command& command) {
  return fmt::format("see 'assay {} --help'", command.name);
}

std::string nearest_hint(const std::string& name, std::span<const std::string> candidates,
                         std::string fallback) {
  if (const auto nearest = nearest_name(name, candidates))
    return fmt::format("did you mean '{}'?", *nearest);
  return fallback;
}

const Option* find_option(const Command& command, std::string_view name) {
  for (const Option& option : command.options)
    if (option.name == name) return &option;
  return nullptr;
}

// CLI11 reports unknown options together with stray positionals; look for them first so that the
// message names the option.
void refuse_unknown_options(const Command& command, std::span<const std::string> arguments) {
  std::vector<std::string> known{"--help"};
  for (const Option& option : command.options) known.push_back(option.name);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return;
    if (argument.size() < 2 || argument[0] != '-' || argument == "-h") continue;
    if (parse_double(argument).ok()) continue;  // a negative number
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (name == "--help") continue;
    const Option* option = find_option(command, name);
    if (option == nullptr)
      throw UserError(fmt::format("unknown option '{}'", name), "assay " + command.name,
                      nearest_hint(name, known, help_hint(command)));
    if (option->kind != OptionKind::kFlag && equals == std::string::npos) ++i;  // skip its value
  }
}

void check_choices(const Option& option, std::span<const std::string> values) {
  if (option.choices.empty()) return;
  for (const std::string& given : values) {
    const std::vector<std::string> parts =
        option.kind == OptionKind::kList ? split(given, ',') : std::vector<std::string>{given};
    for (const std::string& part : parts) {
      if (std::find(option.choices.begin(), option.choices.end(), part) != option.choices.end())
        continue;
      throw UserError(fmt::format("'{}' is not a value of {}", part, option.name), "",
                      nearest_hint(part, option.choices,
                                   fmt::format("one of: {}", join(option.choices, ", "))));
    }
  }
}

void check_positionals(const Command& command, const Invocation& invocation) {
  size_t required = 0;
  bool repeated = false;
  for (const Positional& positional : command.positionals) {
    if (positional.required) ++required;
    repeated = repeated || positional.repeated;
  }
  const size_t given = invocation.positionals.size();
  if (given < required)
    throw UserError(fmt::format("{} is missing", command.positionals[given].name),
                    "assay " + command.name, help_hint(command));
  if (!repeated && given > command.positionals.size())
    throw UserError(
        fmt::format("unexpected argument '{}'", invocation.positionals[command.positionals.size()]),
        "assay " + command.name, help_hint(command));
}

void check_conflicts(const Command& command, const Invocation& invocation) {
  for (const Conflict& conflict : command.conflicts) {
    if (!invocation.has(conflict.option)) continue;
    for (const std::string& other : conflict.others)
      if (invocation.has(other))
        throw UserError(fmt::format("{} and {} contradict each other", conflict.option, other),
                        "assay " + command.name, "give one of the two");
  }
}

struct Parsed {
  const Option* option = nullptr;
  CLI::Option* handle = nullptr;
  bool flag = false;
  std::vector<std::string> values;
};

}  // namespace

Invocation parse(const Command& command, std::span<const std::string> arguments) {
  Invocation invocation;
  invocation.command_name = command.name;
  invocation.command_line = "assay " + command.name;
  for (const std::string& argument : arguments) invocation.command_line += " " + argument;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--help" || argument == "-h") {
      invocation.options["--help"] = {};
      return invocation;
    }
  }
  refuse_unknown_options(command, arguments);

  CLI::App app;
  app.set_help_flag();
  std::list<Parsed> parsed;  // a list: CLI11 keeps references
  for (const Option& option : command.options) {
    Parsed& target = parsed.emplace_back();
    target.option = &option;
    if (option.kind == OptionKind::kFlag)
      target.handle = app.add_flag(option.name, target.flag);
    else
      target.handle =
          app.add_option(option.name, target.values)->expected(1)->allow_extra_args(false);
    if (option.kind == OptionKind::kList)
      target.handle->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  app.add_option("ARGUMENTS", invocation.positionals)->expected(0, -1);

  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "assay " + command.name, help_hint(command));
  }
  for (const Parsed& target : parsed) {
    if (target.handle->count() == 0) continue;
    if (target.option->kind == OptionKind::kValue && target.values.size() > 1)
      throw UserError(
          fmt::format("{} is given {} times", target.option->name, target.values.size()),
          "assay " + command.name, "it takes one value");
    check_choices(*target.option, target.values);
    invocation.options[target.option->name] = target.values;
  }
  check_positionals(command, invocation);
  check_conflicts(command, invocation);
  return invocation;
}

}  // namespace assay::cli

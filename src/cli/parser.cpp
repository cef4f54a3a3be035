// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <algorithm>
#include <list>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "study/sweep.h"

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

bool looks_like_option(const std::string& argument) {
  // A negative number is a value.
  return argument.size() >= 2 && argument[0] == '-' && !parse_double(argument).ok();
}

// "--seeds wants a whole number from 1 to 100000", with what it is when left out.
[[noreturn]] void refuse_value(const Command& command, const Option& option,
                               const std::optional<std::string>& given) {
  std::string message = option.name + " wants ";
  if (option.number)
    message += wanted_text(*option.number);
  else if (option.choices.empty())
    message += "a value: " + option.name + " " + option.value_name;
  else
    message += "one of: " + join(option.choices, ", ");
  if (given) message += fmt::format(", not '{}'", *given);
  throw UserError(message, "assay " + command.name,
                  option.default_text.empty()
                      ? help_hint(command)
                      : fmt::format("without {} it is {}", option.name, option.default_text));
}

// CLI11 speaks of its own types and reports unknown options together with stray arguments; what is
// wrong is looked for first, so that the message is ours and names the option.
void check_options(const Command& command, std::span<const std::string> arguments) {
  std::vector<std::string> known{"--help"};
  for (const Option& option : command.options) known.push_back(option.name);
  std::set<std::string> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return;
    if (!looks_like_option(argument)) {
      if (argument.starts_with('-') && argument != "-")
        throw UserError(fmt::format("unexpected argument '{}'", argument), "assay " + command.name,
                        help_hint(command));
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const Option* option = find_option(command, name);
    if (option == nullptr)
      throw UserError(fmt::format("unknown option '{}'", name), "assay " + command.name,
                      nearest_hint(name, known, help_hint(command)));
    if (option->kind == OptionKind::kFlag) {
      if (equals != std::string::npos)
        throw UserError(fmt::format("{} takes no value", name), "assay " + command.name,
                        fmt::format("type {} alone, or leave it out", name));
      continue;
    }
    if (!given.insert(name).second && option->kind == OptionKind::kValue)
      throw UserError(fmt::format("{} is given twice", name), "assay " + command.name,
                      "it takes one value");
    if (equals != std::string::npos) {
      if (equals + 1 == argument.size()) refuse_value(command, *option, std::nullopt);
      continue;
    }
    ++i;  // its value
    if (i == arguments.size() || arguments[i].empty() || looks_like_option(arguments[i]))
      refuse_value(command, *option, std::nullopt);
  }
}

// Every number of a value, of a list and of a range.
void check_numbers(const Command& command, const Option& option,
                   std::span<const std::string> values) {
  if (!option.number) return;
  for (const std::string& given : values) {
    Result<std::vector<std::string>> parts = std::vector<std::string>{given};
    if (option.kind == OptionKind::kList)
      parts = expand_values(given, option.number->kind == NumberKind::kDecimal
                                       ? CaseValueType::kNumber
                                       : CaseValueType::kInteger);
    if (!parts.ok())
      throw UserError(parts.error().message, option.name,
                      parts.error().hint.empty() ? help_hint(command) : parts.error().hint);
    for (const std::string& part : *parts)
      if (!allows(*option.number, part)) refuse_value(command, option, part);
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
      throw UserError(fmt::format("{} cannot be '{}'", option.name, part), "",
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
  check_options(command, arguments);

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
    throw UserError(fmt::format("the command line cannot be read: {}", error.what()),
                    "assay " + command.name, help_hint(command));
  }
  for (const Parsed& target : parsed) {
    if (target.handle->count() == 0) continue;
    check_choices(*target.option, target.values);
    check_numbers(command, *target.option, target.values);
    invocation.options[target.option->name] = target.values;
  }
  check_positionals(command, invocation);
  check_conflicts(command, invocation);
  return invocation;
}

}  // namespace assay::cli

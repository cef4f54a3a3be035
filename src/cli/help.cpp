// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::cli {
namespace {

constexpr size_t kColumns = 100;

// Words of `text` on lines of at most kColumns, the first continuing at column `at`, the others
// indented by `indent`.
std::string wrapped(std::string_view text, size_t indent, size_t at) {
  std::string out;
  size_t column = at;
  bool first = true;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!first && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  return out;
}

// "  LEFT      doc", the doc starting at column `indent`, on the next line when LEFT is too long.
std::string entry(const std::string& left, const std::string& doc, size_t indent) {
  std::string out = "  " + left;
  if (out.size() + 2 > indent)
    out += "\n" + std::string(indent, ' ');
  else
    out += std::string(indent - out.size(), ' ');
  return out + wrapped(doc, indent, indent) + "\n";
}

std::string value_text(const Option& option) {
  if (option.kind == OptionKind::kFlag) return "";
  const std::string value = option.choices.empty() ? option.value_name : join(option.choices, "|");
  return option.kind == OptionKind::kList ? value + ",..." : value;
}

std::string left_text(const Option& option) {
  const std::string value = value_text(option);
  return value.empty() ? option.name : option.name + " " + value;
}

std::string doc_text(const Option& option) {
  if (option.default_text.empty()) return option.doc;
  return fmt::format("{} [default: {}]", option.doc, option.default_text);
}

std::vector<std::string> groups_of(const Command& command) {
  std::vector<std::string> groups;
  for (const Option& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  return groups;
}

std::string escaped_for_table(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = "assay " + command.name;
  if (!command.options.empty()) line += " [OPTIONS]";
  for (const Positional& positional : command.positionals) {
    const std::string name = positional.name + (positional.repeated ? "..." : "");
    line += positional.required ? " " + name : " [" + name + "]";
  }
  return line;
}

std::string overview_text(std::span<const Command> commands) {
  std::string out =
      "Assay weighs a machine with deep learning: it measures real workloads and reports how fast, "
      "how\nsure, and what bounds them.\n\nUsage: assay COMMAND [OPTIONS] [ARGUMENTS]\n\n"
      "Commands:\n";
  for (const Command& command : commands)
    if (!command.hidden) out += entry(command.name, command.summary, 14);
  out += "\n";
  out += entry("assay COMMAND --help", "the options of a command", 26);
  out += entry("assay --version", "the version of this program", 26);
  out += "\nStart with 'assay study quick'.\n";
  return out;
}

std::string command_text(const Command& command) {
  std::string out = fmt::format("assay {}: {}\n\nUsage: {}\n", command.name, command.summary,
                                usage_line(command));
  if (!command.description.empty()) out += "\n" + wrapped(command.description, 0, 0) + "\n";
  if (!command.positionals.empty()) out += "\nArguments:\n";
  for (const Positional& positional : command.positionals)
    out += entry(positional.name, positional.doc, 28);
  for (const std::string& group : groups_of(command)) {
    out += fmt::format("\n{}:\n", group);
    for (const Option& option : command.options)
      if (option.group == group) out += entry(left_text(option), doc_text(option), 28);
  }
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const std::string& example : command.examples) out += "  " + example + "\n";
  return out;
}

std::string commands_markdown(std::span<const Command> commands) {
  std::string out =
      "# Commands\n\nMade by `assay help --markdown` from the option tables of `src/cli`; a test "
      "compares the two.\n\n| command | does |\n|---|---|\n";
  for (const Command& command : commands)
    if (!command.hidden)
      out += fmt::format("| [`{0}`](#assay-{0}) | {1} |\n", command.name,
                         escaped_for_table(command.summary));
  for (const Command& command : commands) {
    if (command.hidden) continue;
    out += fmt::format("\n## assay {}\n\n{}.\n\n```\n{}\n```\n", command.name, command.summary,
                       usage_line(command));
    if (!command.description.empty()) out += "\n" + command.description + "\n";
    if (!command.positionals.empty()) out += "\n| argument | meaning |\n|---|---|\n";
    for (const Positional& positional : command.positionals)
      out += fmt::format("| `{}` | {} |\n", positional.name, escaped_for_table(positional.doc));
    for (const std::string& group : groups_of(command)) {
      out += fmt::format("\n| {} | meaning |\n|---|---|\n", group);
      for (const Option& option : command.options)
        if (option.group == group)
          out += fmt::format("| `{}` | {} |\n", escaped_for_table(left_text(option)),
                             escaped_for_table(doc_text(option)));
    }
    if (!command.examples.empty()) out += "\n```\n" + join(command.examples, "\n") + "\n```\n";
  }
  return out;
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/parser.h"

namespace assay::cli {
namespace {

int report_error(const UserError& error) {
  std::string text = fmt::format("error: {}", error.what());
  if (!error.where().empty()) text += fmt::format(" ({})", error.where());
  text += "\n";
  if (!error.hint().empty()) text += fmt::format("hint: {}\n", error.hint());
  std::fputs(text.c_str(), stderr);
  return kExitWrongUse;
}

[[noreturn]] void refuse_unknown_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (!command.hidden) names.push_back(command.name);
  const auto nearest = nearest_name(name, names);
  throw UserError(
      fmt::format("unknown command '{}'", name), "",
      nearest ? fmt::format("did you mean 'assay {}'?", *nearest) : "see 'assay --help'");
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::fputs(overview_text(commands()).c_str(), stderr);
    return kExitWrongUse;
  }
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h") {
    write_result(overview_text(commands()));
    return kExitDone;
  }
  if (name == "--version") {
    write_result(fmt::format("assay {}\n", ASSAY_VERSION));
    return kExitDone;
  }
  if (name.starts_with("-"))
    throw UserError(fmt::format("'{}' stands before the command", name), "",
                    "type 'assay COMMAND [OPTIONS]'; see 'assay --help'");
  const Command* command = find_command(name);
  if (command == nullptr) refuse_unknown_command(name);
  const Invocation invocation = parse(*command, std::span<const std::string>(arguments).subspan(1));
  if (invocation.has("--help")) {
    write_result(command_text(*command));
    return kExitDone;
  }
  return command->run(invocation);
}

}  // namespace

int run(int argc, char** argv) {
  // A closed pipe must be an error of the write: results go to pipes that the reader may close, and
  // requests to workers that may die.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const int code = dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    flush_results();
    return code;
  } catch (const UserError& error) {
    return report_error(error);
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: internal: %s\nhint: this is a defect of assay; please report it\n",
                 error.what());
  }
  return kExitInternal;
}

}  // namespace assay::cli

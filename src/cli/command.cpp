// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {

std::optional<std::string> Invocation::value(std::string_view name) const {
  const auto found = options.find(name);
  if (found == options.end() || found->second.empty()) return std::nullopt;
  return found->second.front();
}

std::string Invocation::value_or(std::string_view name, std::string_view fallback) const {
  return value(name).value_or(std::string(fallback));
}

std::optional<int64_t> Invocation::integer(std::string_view name) const {
  const std::optional<std::string> text = value(name);
  if (!text) return std::nullopt;
  const Result<int64_t> parsed = parse_int(*text);
  if (!parsed.ok() || *parsed < 0)
    throw UserError("'" + *text + "' is not a whole number", std::string(name));
  return *parsed;
}

std::optional<double> Invocation::number(std::string_view name) const {
  const std::optional<std::string> text = value(name);
  if (!text) return std::nullopt;
  const Result<double> parsed = parse_double(*text);
  if (!parsed.ok() || !(*parsed > 0))
    throw UserError("'" + *text + "' is not a positive number", std::string(name));
  return *parsed;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

}  // namespace assay::cli

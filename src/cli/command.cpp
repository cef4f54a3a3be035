// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {
namespace {

// The number in a text that the parser has found to be one.
template <class Number>
std::optional<Number> checked(Result<Number> (*parse_number)(std::string_view),
                              const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const Result<Number> parsed = parse_number(*text);
  ASSAY_ASSERT(parsed.ok(), "an option without a rule for its number: " + *text);
  return *parsed;
}

}  // namespace

std::optional<std::string> Invocation::value(std::string_view name) const {
  const auto found = options.find(name);
  if (found == options.end() || found->second.empty()) return std::nullopt;
  return found->second.front();
}

std::string Invocation::value_or(std::string_view name, std::string_view fallback) const {
  return value(name).value_or(std::string(fallback));
}

std::optional<int64_t> Invocation::integer(std::string_view name) const {
  return checked(parse_int, value(name));
}

std::optional<uint64_t> Invocation::seed(std::string_view name) const {
  return checked(parse_uint, value(name));
}

std::optional<double> Invocation::number(std::string_view name) const {
  return checked(parse_double, value(name));
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

}  // namespace assay::cli

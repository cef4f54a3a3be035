// SPDX-License-Identifier: Apache-2.0
#include "workload/toml.h"

#include <optional>
#include <utility>

namespace assay {
namespace {

constexpr size_t kLongestLine = 4096;

// Nothing when the parser may see the text.
std::optional<Error> unfit(std::string_view text, std::string_view place) {
  size_t line = 1;
  size_t length = 0;
  for (const char c : text) {
    ++length;
    const auto byte = static_cast<unsigned char>(c);
    const bool control = (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
    if (control || length > kLongestLine) {
      return Error{ErrorCode::kInvalid,
                   control ? "a control character" : "a line of more than 4096 bytes",
                   std::string(place) + ":" + std::to_string(line)};
    }
    if (c == '\n') {
      ++line;
      length = 0;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string toml_place(std::string_view place, const toml::source_region& source) {
  return std::string(place) + ":" + std::to_string(source.begin.line);
}

Result<toml::table> parse_toml(std::string_view text, std::string_view place) {
  if (auto error = unfit(text, place)) return *std::move(error);
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return Error{ErrorCode::kInvalid, std::string(parsed.error().description()),
                 toml_place(place, parsed.error().source())};
  }
  return std::move(parsed).table();
}

}  // namespace assay

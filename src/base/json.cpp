// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace assay {
namespace {

// nlohmann's parser does not recurse but its printer does: deeper text is refused at the border.
constexpr int kDeepest = 512;

bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Error not_json(std::string_view text, size_t byte, std::string_view place) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return {ErrorCode::kCorrupt,
          byte > text.size()
              ? std::string("not JSON: the text ends too early")
              : fmt::format("not JSON: unexpected text at line {}, column {}", line, column),
          std::string(place)};
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view place) {
  if (too_deep(text)) {
    return Error{ErrorCode::kCorrupt, fmt::format("JSON nested deeper than {}", kDeepest),
                 std::string(place)};
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    return not_json(text, error.byte, place);
  } catch (const Json::exception&) {
    return Error{ErrorCode::kCorrupt, "not JSON: a number is out of range", std::string(place)};
  }
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace assay {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kOutOfMemory:
      return "out-of-memory";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kDiverged:
      return "diverged";
    case ErrorCode::kCrashed:
      return "crashed";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

std::optional<ErrorCode> error_code_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (error_code_name(code) == name) return code;
  }
  return std::nullopt;
}

std::string Error::text() const {
  if (place.empty()) return message;
  return message + " (" + place + ")";
}

void assertion_failed(const char* condition, std::string_view message, const char* file, int line) {
  std::fprintf(stderr, "assertion failed: %s: %.*s (%s:%d)\n", condition,
               static_cast<int>(message.size()), message.data(), file, line);
  std::abort();
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "machine/system_roots.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {

Result<std::string> read_kernel_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Error{ErrorCode::kNotFound, path.string() + " is absent"};
    }
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path.string(), std::strerror(errno))};
  }
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(file, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(count));
  }
  const int failure = count < 0 ? errno : 0;
  ::close(file);
  if (failure != 0) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path.string(), std::strerror(failure))};
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<int64_t> read_kernel_int(const std::filesystem::path& path) {
  ASSAY_ASSIGN(const std::string text, read_kernel_file(path));
  auto value = parse_int(trim(text));
  if (!value.ok()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{} holds '{}', not a number", path.string(), text)};
  }
  return value;
}

Result<std::string> field_of(const std::string& text, const std::string& name) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == name) {
      return std::string(trim(line.substr(colon + 1)));
    }
    begin = end + 1;
  }
  return Error{ErrorCode::kNotFound, fmt::format("the kernel gives no '{}'", name)};
}

Result<int64_t> kib_field_of(const std::string& text, const std::string& name) {
  ASSAY_ASSIGN(const std::string value, field_of(text, name));
  const auto parts = split(value, ' ');
  const auto kib = parse_int(parts.front());
  if (!kib.ok() || parts.back() != "kB") {
    return Error{ErrorCode::kCorrupt, fmt::format("'{}' is '{}', not a size", name, value)};
  }
  return *kib * 1024;
}

}  // namespace assay

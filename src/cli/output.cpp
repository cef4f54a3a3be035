// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace assay::cli {
namespace {

void check_written(bool written) {
  if (written || errno == EPIPE) return;
  throw UserError(fmt::format("cannot write results: {}", std::strerror(errno)), "standard output");
}

}  // namespace

void write_result(std::string_view text) {
  errno = 0;
  check_written(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_results() {
  errno = 0;
  check_written(std::fflush(stdout) == 0);
}

void fail(const Error& error) { throw UserError(error.message, error.place, error.hint); }

void check_can_be_written(const std::string& file, const std::string& option) {
  const std::filesystem::path path(file);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code ignored;
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("{} cannot be written: {}", file, why), option,
                    "name another file");
  };
  if (std::filesystem::is_directory(path, ignored)) refuse("it is a folder");
  if (!std::filesystem::is_directory(folder, ignored))
    refuse(fmt::format("there is no folder {}", folder.string()));
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(std::strerror(errno));
}

void warn(std::string_view text) { std::fputs(fmt::format("warning: {}\n", text).c_str(), stderr); }

}  // namespace assay::cli

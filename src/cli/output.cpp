// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

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

void warn(std::string_view text) { std::fputs(fmt::format("warning: {}\n", text).c_str(), stderr); }

}  // namespace assay::cli

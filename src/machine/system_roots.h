// SPDX-License-Identifier: Apache-2.0
//
// Where the kernel's files are, injected so that tests can give trees of their own; and how to read
// them. Stateless and thread-safe; a read costs some 10 us.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace assay {

struct SystemRoots {
  std::filesystem::path sys = "/sys";
  std::filesystem::path proc = "/proc";
  std::filesystem::path root = "/";  // for /etc/os-release and the marks of containers
};

// The whole file, without its last newline. kNotFound when absent, kIo when it cannot be read; the
// message reads as a reason: "/sys/... is absent", "permission denied".
Result<std::string> read_kernel_file(const std::filesystem::path& path);
Result<int64_t> read_kernel_int(const std::filesystem::path& path);

// The value of a "Name:   value" line, trimmed; kNotFound when there is no such line.
Result<std::string> field_of(const std::string& text, const std::string& name);
// The same in /proc's "VmRSS:  123 kB" form, in bytes.
Result<int64_t> kib_field_of(const std::string& text, const std::string& name);

}  // namespace assay

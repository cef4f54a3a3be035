// SPDX-License-Identifier: Apache-2.0
#include "machine/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "machine/cgroup.h"

namespace assay {
namespace {

Result<Bytes> status_field(pid_t pid, const SystemRoots& roots, const char* name) {
  const std::string who = pid == 0 ? "self" : std::to_string(pid);
  ASSAY_ASSIGN(const std::string status, read_kernel_file(roots.proc / who / "status"));
  ASSAY_ASSIGN(const int64_t bytes, kib_field_of(status, name));
  return Bytes{bytes};
}

Result<Bytes> meminfo_field(const SystemRoots& roots, const char* name) {
  ASSAY_ASSIGN(const std::string meminfo, read_kernel_file(roots.proc / "meminfo"));
  ASSAY_ASSIGN(const int64_t bytes, kib_field_of(meminfo, name));
  return Bytes{bytes};
}

}  // namespace

Result<Bytes> resident_memory(pid_t pid, const SystemRoots& roots) {
  return status_field(pid, roots, "VmRSS");
}

Result<Bytes> peak_resident_memory(pid_t pid, const SystemRoots& roots) {
  return status_field(pid, roots, "VmHWM");
}

Result<void> reset_peak_resident_memory(const SystemRoots& roots) {
  const std::string path = (roots.proc / "self/clear_refs").string();
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = file >= 0 && ::write(file, "5", 1) == 1;
  const int failure = errno;
  if (file >= 0) ::close(file);
  if (written) return {};
  return Error{ErrorCode::kIo,
               fmt::format("cannot reset the memory peak: {}", std::strerror(failure)), path};
}

Result<Bytes> usable_memory(const SystemRoots& roots) {
  ASSAY_ASSIGN(const Bytes machine, meminfo_field(roots, "MemTotal"));
  const auto limit = cgroup_memory_limit_bytes(roots);
  return limit.ok() ? std::min(machine, Bytes{*limit}) : machine;
}

Result<Bytes> available_memory(const SystemRoots& roots) {
  return meminfo_field(roots, "MemAvailable");
}

}  // namespace assay

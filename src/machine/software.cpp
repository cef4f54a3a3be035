// SPDX-License-Identifier: Apache-2.0
#include "machine/software.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> kVariablePrefixes{
    "OMP_",    "GOMP_", "KMP_",           "MKL_",    "OPENBLAS_", "BLIS_",
    "ONEDNN_", "DNNL_", "GLIBC_TUNABLES", "MALLOC_", "CUDA_",     "NCCL_"};
constexpr std::array<std::string_view, 5> kVariables{"LD_PRELOAD", "LD_LIBRARY_PATH",
                                                     "OMPI_MCA_btl", "XLA_FLAGS", "NPROC"};

bool concerns_numerics(std::string_view name) {
  return std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end() ||
         std::any_of(kVariablePrefixes.begin(), kVariablePrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// 0,1,2,5 as "0-2,5".
std::string ranges(const std::vector<int>& sorted) {
  std::string text;
  for (size_t i = 0; i < sorted.size();) {
    size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text +=
        last == i ? fmt::format("{}", sorted[i]) : fmt::format("{}-{}", sorted[i], sorted[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

Result<std::string> kernel_release() {
  utsname names{};
  if (::uname(&names) != 0) return Error{ErrorCode::kIo, std::strerror(errno)};
  return std::string(names.release);
}

Result<std::string> architecture() {
  utsname names{};
  if (::uname(&names) != 0) return Error{ErrorCode::kIo, std::strerror(errno)};
  return std::string(names.machine);
}

Result<std::string> libc_version() {
  std::array<char, 128> text{};
  const size_t size = ::confstr(_CS_GNU_LIBC_VERSION, text.data(), text.size());
  if (size == 0) return Error{ErrorCode::kNotFound, "the C library does not give its version"};
  return std::string(text.data());
}

Result<std::string> distribution(const SystemRoots& roots) {
  ASSAY_ASSIGN(const std::string text, read_kernel_file(roots.root / "etc/os-release"));
  for (const std::string& line : split(text, '\n')) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (!line.starts_with(kKey)) continue;
    std::string name = line.substr(kKey.size());
    std::erase(name, '"');
    return name;
  }
  return Error{ErrorCode::kNotFound, "/etc/os-release has no PRETTY_NAME"};
}

std::string container(const SystemRoots& roots) {
  std::error_code ignored;
  if (fs::exists(roots.root / ".dockerenv", ignored)) return "docker";
  if (fs::exists(roots.root / "run/.containerenv", ignored)) return "podman";
  const auto systemd = read_kernel_file(roots.root / "run/systemd/container");
  if (systemd.ok() && !systemd->empty()) return *systemd;
  const auto groups = read_kernel_file(roots.proc / "self/cgroup");
  if (groups.ok()) {
    static constexpr std::array<std::array<std::string_view, 2>, 4> kMarks{
        {{"kubepods", "kubernetes"}, {"docker", "docker"}, {"libpod", "podman"}, {"/lxc", "lxc"}}};
    for (const auto& [mark, name] : kMarks) {
      if (groups->find(mark) != std::string::npos) return std::string(name);
    }
  }
  return "none";
}

Result<std::string> transparent_hugepages(const SystemRoots& roots) {
  ASSAY_ASSIGN(const std::string text,
               read_kernel_file(roots.sys / "kernel/mm/transparent_hugepage/enabled"));
  const size_t open = text.find('[');
  const size_t close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) {
    return Error{ErrorCode::kCorrupt, fmt::format("the kernel says '{}'", text)};
  }
  return text.substr(open + 1, close - open - 1);
}

Result<std::string> address_randomisation(const SystemRoots& roots) {
  ASSAY_ASSIGN(const int64_t level, read_kernel_int(roots.proc / "sys/kernel/randomize_va_space"));
  if (level == 0) return std::string("off");
  return std::string(level == 1 ? "partial" : "full");
}

Result<Affinity> cpu_affinity() {
  // Large enough for any machine; the kernel refuses sets that are too small.
  constexpr int kCpus = 8192;
  cpu_set_t* set = CPU_ALLOC(kCpus);
  const size_t size = CPU_ALLOC_SIZE(kCpus);
  CPU_ZERO_S(size, set);
  std::vector<int> cpus;
  const int failure = ::sched_getaffinity(0, size, set) == 0 ? 0 : errno;
  for (int cpu = 0; failure == 0 && cpu < kCpus; ++cpu) {
    if (CPU_ISSET_S(static_cast<size_t>(cpu), size, set)) cpus.push_back(cpu);
  }
  CPU_FREE(set);
  if (failure != 0) return Error{ErrorCode::kIo, std::strerror(failure)};
  return Affinity{ranges(cpus), static_cast<int>(cpus.size())};
}

std::map<std::string, std::string> numerical_variables(const char* const* environment) {
  std::map<std::string, std::string> found;
  for (const char* const* entry = environment; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || !concerns_numerics(text.substr(0, equals))) continue;
    found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace assay

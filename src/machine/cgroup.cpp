// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Version 1 says "no limit" with the largest multiple of the page size; nothing real is near.
constexpr int64_t kNoLimit = int64_t{1} << 60;

bool has_word(const std::string& list, char separator, const std::string& word) {
  const auto words = split(list, separator);
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The group's own folder, or the mount itself where the path is not visible (in a container the
// path may be that of the host).
fs::path visible_folder(const fs::path& mount, const std::string& path) {
  const fs::path folder = mount / fs::path(path).relative_path();
  std::error_code ignored;
  return fs::is_directory(folder, ignored) ? folder : mount;
}

// Calls `read` for the group and every group above it; the smallest value found.
template <class T, class Read>
std::optional<T> tightest(const CgroupFolder& group, Read read) {
  std::optional<T> smallest;
  for (fs::path folder = group.folder;; folder = folder.parent_path()) {
    if (const std::optional<T> limit = read(folder)) {
      smallest = smallest ? std::min(*smallest, *limit) : *limit;
    }
    if (folder == group.mount || folder == folder.parent_path()) return smallest;
  }
}

std::optional<double> cpu_limit_in(const CgroupFolder& group, const fs::path& folder) {
  std::string quota;
  std::string period;
  if (group.version == CgroupVersion::kTwo) {
    const auto text = read_kernel_file(folder / "cpu.max");
    if (!text.ok()) return std::nullopt;
    const auto parts = split(*text, ' ');
    if (parts.size() != 2) return std::nullopt;
    quota = parts[0];
    period = parts[1];
  } else {
    const auto first = read_kernel_file(folder / "cpu.cfs_quota_us");
    const auto second = read_kernel_file(folder / "cpu.cfs_period_us");
    if (!first.ok() || !second.ok()) return std::nullopt;
    quota = *first;
    period = *second;
  }
  const auto used = parse_int(quota);  // "max" and -1 are no limit
  const auto of = parse_int(period);
  if (!used.ok() || !of.ok() || *used <= 0 || *of <= 0) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*of);
}

std::optional<int64_t> memory_limit_in(const CgroupFolder& group, const fs::path& folder) {
  const auto limit = read_kernel_int(
      folder / (group.version == CgroupVersion::kTwo ? "memory.max" : "memory.limit_in_bytes"));
  if (!limit.ok() || *limit >= kNoLimit) return std::nullopt;
  return *limit;
}

}  // namespace

Result<CgroupFolder> find_cgroup(const SystemRoots& roots, const std::string& controller) {
  ASSAY_ASSIGN(const std::string text, read_kernel_file(roots.proc / "self/cgroup"));
  const fs::path base = roots.sys / "fs/cgroup";
  std::optional<CgroupFolder> unified;
  for (const std::string& line : split(text, '\n')) {  // "4:memory:/path", "0::/path"
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (has_word(names, ',', controller)) {
      for (const std::string& mount_name : {names, controller}) {
        const fs::path mount = base / mount_name;
        std::error_code ignored;
        if (!fs::is_directory(mount, ignored)) continue;
        return CgroupFolder{CgroupVersion::kOne, mount, visible_folder(mount, path)};
      }
    }
    if (names.empty()) {
      unified = CgroupFolder{CgroupVersion::kTwo, base, visible_folder(base, path)};
    }
  }
  if (unified) {
    const auto controllers = read_kernel_file(unified->folder / "cgroup.controllers");
    if (controllers.ok() && has_word(*controllers, ' ', controller)) return *unified;
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("no control group of this process has the {} controller", controller)};
}

Result<double> cgroup_cpu_limit(const SystemRoots& roots) {
  ASSAY_ASSIGN(const CgroupFolder group, find_cgroup(roots, "cpu"));
  const auto limit =
      tightest<double>(group, [&](const fs::path& folder) { return cpu_limit_in(group, folder); });
  if (!limit) return Error{ErrorCode::kNotFound, "no limit"};
  return *limit;
}

Result<int64_t> cgroup_memory_limit_bytes(const SystemRoots& roots) {
  ASSAY_ASSIGN(const CgroupFolder group, find_cgroup(roots, "memory"));
  const auto limit = tightest<int64_t>(
      group, [&](const fs::path& folder) { return memory_limit_in(group, folder); });
  if (!limit) return Error{ErrorCode::kNotFound, "no limit"};
  return *limit;
}

}  // namespace assay

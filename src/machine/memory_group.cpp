// SPDX-License-Identifier: Apache-2.0
#include "machine/memory_group.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

Result<void> write_kernel_file(const fs::path& path, const std::string& value) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && ::write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  const int failure = errno;
  if (file >= 0) ::close(file);
  if (written) return {};
  return Error{ErrorCode::kIo, fmt::format("cannot write '{}': {}", value, std::strerror(failure)),
               path.string()};
}

Error unsupported(const std::string& reason) {
  return Error{ErrorCode::kUnsupported, "no memory limit by control group: " + reason};
}

}  // namespace

Result<MemoryGroup> MemoryGroup::create_below(const CgroupFolder& parent, Bytes limit) {
  std::string pattern = (parent.folder / "assay-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return unsupported(fmt::format("{}: {}", parent.folder.string(), std::strerror(errno)));
  }
  MemoryGroup group(parent.version, pattern);  // removed again on every failure below
  const std::string bytes = std::to_string(limit.count);
  if (parent.version == CgroupVersion::kTwo) {
    // The file exists only where the folder above hands the controller down.
    ASSAY_TRY(write_kernel_file(group.folder_ / "memory.max", bytes));
    (void)write_kernel_file(group.folder_ / "memory.swap.max", "0");
    // All processes of a worker end together, not one at random.
    (void)write_kernel_file(group.folder_ / "memory.oom.group", "1");
  } else {
    ASSAY_TRY(write_kernel_file(group.folder_ / "memory.limit_in_bytes", bytes));
    (void)write_kernel_file(group.folder_ / "memory.memsw.limit_in_bytes", bytes);
  }
  return group;
}

Result<MemoryGroup> MemoryGroup::create(Bytes limit, const SystemRoots& roots) {
  if (limit.count <= 0) return Error{ErrorCode::kInvalid, "a memory limit is not positive"};
  auto own = find_cgroup(roots, "memory");
  if (!own.ok()) return unsupported(own.error().message);
  auto group = create_below(*own, limit);
  if (group.ok() || own->version == CgroupVersion::kOne || own->folder == own->mount) return group;
  // Version 2: a group with processes cannot hand controllers down, but a sister of ours gets them
  // from above, where that may be written (systemd delegates whole subtrees to users).
  CgroupFolder above = *own;
  above.folder = own->folder.parent_path();
  auto sister = create_below(above, limit);
  return sister.ok() ? std::move(sister) : std::move(group);
}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept
    : version_(other.version_), folder_(std::exchange(other.folder_, {})) {}

MemoryGroup& MemoryGroup::operator=(MemoryGroup&& other) noexcept {
  if (this == &other) return *this;
  remove();
  version_ = other.version_;
  folder_ = std::exchange(other.folder_, {});
  return *this;
}

MemoryGroup::~MemoryGroup() { remove(); }

void MemoryGroup::remove() {
  // rmdir is how the kernel wants it: the files inside are not ours to delete.
  if (!folder_.empty()) ::rmdir(folder_.c_str());
  folder_.clear();
}

Result<void> MemoryGroup::add(pid_t process) const {
  return write_kernel_file(folder_ / "cgroup.procs", std::to_string(process));
}

Result<int64_t> MemoryGroup::kills() const {
  const fs::path file =
      folder_ / (version_ == CgroupVersion::kTwo ? "memory.events" : "memory.oom_control");
  ASSAY_ASSIGN(const std::string text, read_kernel_file(file));
  for (const std::string& line : split(text, '\n')) {
    constexpr std::string_view kKey = "oom_kill ";
    if (line.starts_with(kKey)) return parse_int(trim(line.substr(kKey.size())));
  }
  return Error{ErrorCode::kNotFound, file.string() + " counts no kills"};
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// MemoryGroup: a control group with a memory limit, below or beside that of this process, version 2
// or 1. The kernel then ends what exceeds the limit, at once and whatever the allocation rate. Only
// where the files may be written (root, or a delegated group); elsewhere the supervisor watches the
// resident size of its workers. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include <sys/types.h>

#include "base/error.h"
#include "base/units.h"
#include "machine/cgroup.h"
#include "machine/system_roots.h"

namespace assay {

class MemoryGroup {
 public:
  // kUnsupported, with the reason, where no such group can be made. Swap is denied to the group
  // where the kernel allows to say so.
  static Result<MemoryGroup> create(Bytes limit, const SystemRoots& roots = {});
  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) noexcept;
  // Removes the group, if its processes have ended.
  ~MemoryGroup();

  // Moves the process in; its later children are born in the group.
  Result<void> add(pid_t process) const;
  // How often the kernel ended a process of the group for lack of memory.
  Result<int64_t> kills() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  MemoryGroup(CgroupVersion version, std::filesystem::path folder)
      : version_(version), folder_(std::move(folder)) {}
  static Result<MemoryGroup> create_below(const CgroupFolder& parent, Bytes limit);
  void remove();

  CgroupVersion version_;
  std::filesystem::path folder_;
};

}  // namespace assay

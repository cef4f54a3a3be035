// SPDX-License-Identifier: Apache-2.0
//
// The control groups that limit this process, version 2 or 1 (man cgroups(7)).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "machine/system_roots.h"

namespace assay {

enum class CgroupVersion : uint8_t { kOne = 1, kTwo = 2 };

// Where a controller's files of this process's group lie.
struct CgroupFolder {
  CgroupVersion version = CgroupVersion::kTwo;
  std::filesystem::path mount;   // of the hierarchy
  std::filesystem::path folder;  // at or below mount
};

// `controller` is "memory" or "cpu". kNotFound when no hierarchy has it.
Result<CgroupFolder> find_cgroup(const SystemRoots& roots, const std::string& controller);

// The tightest limit of the group and those above it; kNotFound "no limit" when there is none.
Result<double> cgroup_cpu_limit(const SystemRoots& roots);  // in processors
Result<int64_t> cgroup_memory_limit_bytes(const SystemRoots& roots);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The tasks that exist: one line of tasks.cpp each. Constant; thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/data_roots.h"
#include "workload/workload.h"

namespace assay {

struct TaskEntry {
  std::string name;
  std::vector<std::string> recipe_keys;  // its own keys, in Recipe::extra: "augmentation.flip"
  std::vector<std::string> metrics;      // that its evaluation can give
  Result<std::unique_ptr<Task>> (*make)(const Workload& workload, const WorkloadVariant& variant,
                                        const DataRoots& roots) = nullptr;
};

std::span<const TaskEntry> task_entries();

// kInvalid names the nearest one.
Result<const TaskEntry*> find_task(std::string_view name);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "workload/tasks.h"

#include "base/text.h"
#include "workload/image_classification.h"

namespace assay {

std::span<const TaskEntry> task_entries() {
  static const std::vector<TaskEntry> entries = {
      image_classification_entry(),
  };
  return entries;
}

Result<const TaskEntry*> find_task(std::string_view name) {
  std::vector<std::string> names;
  for (const TaskEntry& entry : task_entries()) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  const auto near = nearest_name(name, names);
  return Error{ErrorCode::kInvalid, "no task is called '" + std::string(name) + "'", "",
               near ? "did you mean '" + *near + "'?" : "there are " + join(names, ", ")};
}

}  // namespace assay

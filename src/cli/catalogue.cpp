// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/output.h"
#include "model/model.h"
#include "study/study.h"

namespace assay::cli {

std::vector<Workload> all_workloads() {
  return value_or_fail(load_workloads(share_folder() / "workloads"));
}

std::vector<std::string> all_model_names() {
  std::vector<std::string> names;
  for (const ModelEntry& model : list_models()) names.push_back(model.name);
  return names;
}

std::vector<std::string> all_study_names() { return study_names(share_folder() / "studies"); }

std::string study_file(const std::string& name) {
  if (name.ends_with(".toml")) return name;
  const std::vector<std::string> names = all_study_names();
  for (const std::string& known : names)
    if (known == name) return (share_folder() / "studies" / (name + ".toml")).string();
  const auto nearest = nearest_name(name, names);
  throw UserError(
      fmt::format("no study is named '{}'", name), "",
      nearest ? fmt::format("did you mean '{}'?", *nearest)
              : fmt::format("there are: {}; or name a file ending in .toml", join(names, ", ")));
}

}  // namespace assay::cli

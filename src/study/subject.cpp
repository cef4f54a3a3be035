// SPDX-License-Identifier: Apache-2.0
#include "study/subject.h"

#include <sched.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "data/dataset.h"
#include "record/digest.h"

namespace assay {
namespace {

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

Error unknown(std::string_view what, const std::string& name,
              const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return {ErrorCode::kInvalid, fmt::format("no {} is named '{}'", what, name), "",
          nearest ? fmt::format("did you mean '{}'?", *nearest)
                  : fmt::format("there are: {}", join(candidates, ", "))};
}

}  // namespace

Result<ChosenWorkload> choose_workload(const Case& wanted) {
  ASSAY_ASSIGN(std::vector<Workload> all, load_workloads(share_folder() / "workloads"));
  const std::string& name = wanted.get("workload");
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Workload& one) { return one.name == name; });
  if (found == all.end()) return unknown("workload", name, names_of(all));
  const WorkloadVariant* variant = found->variant(wanted.get("variant"));
  if (variant == nullptr)
    return unknown("variant of " + name, wanted.get("variant"), names_of(found->variants));
  ASSAY_ASSIGN(WorkloadVariant adjusted, override_recipe(*variant, wanted.overrides()));
  if (wanted.get("activity") == "train") {
    if (wanted.integer("batch") > 0) adjusted.recipe.batch = wanted.integer("batch");
    if (wanted.number("epochs") > 0) adjusted.recipe.epochs = wanted.number("epochs");
  }
  return ChosenWorkload{std::move(*found), std::move(adjusted)};
}

Result<WorkloadSubject> open_subject(const Case& wanted) {
  WorkloadSubject subject;
  ASSAY_ASSIGN(subject.chosen, choose_workload(wanted));
  const auto& [workload, variant] = subject.chosen;
  ASSAY_ASSIGN(subject.task, make_task(workload, variant));
  ASSAY_ASSIGN(const std::string data,
               DatasetCatalogue(DataRoots::from_environment()).checksum(variant.dataset));
  subject.digest = digest_of(canonical_text(subject.task->training_graph()),
                             recipe_json(workload, variant).dump(), data);
  return subject;
}

int threads_of(const Case& wanted) {
  if (const int64_t given = wanted.integer("threads"); given > 0)
    return static_cast<int>(std::min<int64_t>(given, 1 << 16));
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

Result<Plan> plan_of(const Case& wanted) {
  Plan plan;
  ASSAY_ASSIGN(plan.device, Device::parse(wanted.get("device")));
  ASSAY_ASSIGN(plan.precision, parse_precision(wanted.get("precision")));
  plan.threads = threads_of(wanted);
  plan.optimization_level = static_cast<int>(wanted.integer("level"));
  return plan;
}

Result<void> check_supported(const Engine& engine, const Graph& graph, const Plan& plan) {
  const std::vector<Unsupported> reasons = engine.unsupported(graph, plan);
  if (reasons.empty()) return {};
  const Unsupported& first = reasons.front();
  const auto refusal = [&](const std::string& what, const std::string& reason) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} cannot run {}: {}", engine.name(), what, reason), graph.name()};
  };
  // Without a node it is the whole plan that the engine refuses.
  if (first.op_type.empty())
    return refusal(fmt::format("{} on {}", precision_name(plan.precision), plan.device.text()),
                   first.reason);
  Error error = refusal(fmt::format("{} '{}'", first.op_type, first.node), first.reason);
  if (reasons.size() > 1) error.message += fmt::format(" (and {} more nodes)", reasons.size() - 1);
  return error;
}

}  // namespace assay

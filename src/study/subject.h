// SPDX-License-Identifier: Apache-2.0
//
// What a case is about, made ready: the workload with the case's overrides applied, its task, and
// the digest that says which records may be compared.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "record/case.h"
#include "workload/workload.h"

namespace assay {

// The numbers of a case's workload; costs a millisecond, touches no data.
struct ChosenWorkload {
  Workload workload;
  WorkloadVariant variant;  // with overrides; for training also with the case's batch and epochs
};
// kNotFound names the nearest workload or the variants there are.
Result<ChosenWorkload> choose_workload(const Case& wanted);

struct WorkloadSubject {
  ChosenWorkload chosen;
  std::unique_ptr<Task> task;
  std::string digest;
};
// kNotFound with a hint when the data set is not here. Reads the data.
Result<WorkloadSubject> open_subject(const Case& wanted);

// How the case wants it executed.
Result<Plan> plan_of(const Case& wanted);
// Threads the plan will use: the case's, or every core that this process may use.
int threads_of(const Case& wanted);

// kUnsupported naming the first node the engine cannot run, and how many there are.
Result<void> check_supported(const Engine& engine, const Graph& graph, const Plan& plan);

}  // namespace assay

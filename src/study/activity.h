// SPDX-License-Identifier: Apache-2.0
//
// Activity: what a worker does for one case. It fills what it knows of the record (digest, status,
// metrics, facts, samples, marks); case, run, environment and times are the supervisor's.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "record/record.h"
#include "study/engines.h"
#include "study/protocol.h"

namespace assay {

// What an activity is given. It looks at `cancelled` at least once a step or sample and then
// returns kCancelled.
struct ActivityContext {
  const RunRequest& request;
  const Clock& clock;
  LoadedEngines& engines;
  const std::atomic<bool>& cancelled;
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string& digest)> digest;  // as soon as it is known
};

Result<Record> train_activity(const ActivityContext& context);
Result<Record> infer_activity(const ActivityContext& context);
Result<Record> profile_activity(const ActivityContext& context);  // runs nothing

// By the case's activity; kInvalid names the ones there are.
Result<Record> run_activity(const ActivityContext& context);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// WorkerProcess: the supervisor's side of one worker. It sends a case, watches time, memory and the
// process itself, and says what came of it. Not thread-safe; the thread that starts a worker must
// outlive it (base/process.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/units.h"
#include "machine/memory_group.h"
#include "record/record.h"
#include "study/protocol.h"

namespace assay {

// When to give a case up.
struct Limits {
  std::optional<double> timeout_s;
  std::optional<Bytes> memory;
  int wake_fd = -1;  // readable when the user wants to stop
};

// What a worker made of a case. `record` is whole when the worker answered; otherwise `error` says
// what happened to it: kTimeout, kOutOfMemory, kCrashed or kCancelled.
struct Outcome {
  std::optional<Record> record;
  std::optional<Error> error;
  std::string digest;        // as far as the worker came
  bool worker_alive = true;  // it can take another case
};

class WorkerProcess {
 public:
  // arguments[0] is the program. `environment` is added to ours. Where control groups may be made,
  // the kernel ends a worker that exceeds `memory`; elsewhere run() watches its resident size.
  static Result<WorkerProcess> start(const std::vector<std::string>& arguments,
                                     const std::map<std::string, std::string>& environment,
                                     std::optional<Bytes> memory);
  WorkerProcess(WorkerProcess&& other) noexcept
      : group_(std::exchange(other.group_, std::nullopt)),
        child_(std::exchange(other.child_, std::nullopt)) {}
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  // Ends an idle worker by closing its stdin, and kills it when it does not go.
  ~WorkerProcess();

  Outcome run(const RunRequest& request, const Limits& limits, const Clock& clock,
              const std::function<void(const Progress&)>& progress);
  pid_t pid() const { return child_->pid(); }

 private:
  WorkerProcess(ChildProcess child, std::optional<MemoryGroup> group)
      : group_(std::move(group)), child_(std::move(child)) {}
  Outcome ended(Outcome outcome, Error error);
  Outcome crashed(Outcome outcome, const Limits& limits);
  Outcome cancelled(Outcome outcome);

  std::optional<MemoryGroup> group_;  // outlives the child: a group in use cannot be removed
  std::optional<ChildProcess> child_;
};

}  // namespace assay

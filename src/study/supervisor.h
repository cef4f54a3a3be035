// SPDX-License-Identifier: Apache-2.0
//
// Supervisor: cases in, records out. Each case runs in a worker process (one per engine, device,
// threads and environment; reused while that stays the same); a crash, hang, kill or refusal of a
// worker becomes a record and the rest goes on. Every finished record is stored before the next
// case starts.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "measure/stopping.h"
#include "record/case.h"
#include "record/record.h"

namespace assay {

class Store;

struct SupervisorOptions {
  std::string run_id;
  std::optional<double> timeout_s;    // per case
  std::optional<Bytes> memory_limit;  // default: 90 % of what the machine has
  bool resume = false;                // skip cases that this run_id or digest already finished
  StoppingOptions stopping;
  // Called from the supervisor's thread: "image-classification seed 1: epoch 2.5, top1 0.913".
  std::function<void(const std::string& line)> progress;
};

class Supervisor {
 public:
  Supervisor(Store& store, const Clock& clock, SupervisorOptions options);
  // In the order given. Stops early with kCancelled after SIGINT (what is finished is stored).
  Result<std::vector<Record>> run(std::span<const Case> cases);

 private:
  Store& store_;
  const Clock& clock_;
  SupervisorOptions options_;
};

// `assay worker`: reads requests from stdin, answers on stdout, until end of file.
int worker_main();

}  // namespace assay

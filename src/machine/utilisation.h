// SPDX-License-Identifier: Apache-2.0
//
// UtilisationSampler: how busy machine, process and GPUs are, read at most once a second by a
// thread of its own (some 100 us a reading, below 0.02 % of one core). It also keeps an energy
// meter from missing a wrap. start() and stop() belong to one thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "machine/energy.h"
#include "machine/nvml.h"
#include "machine/system_roots.h"

namespace assay {

// Cumulative CPU time: of all processors (/proc/stat) and of one process (/proc/PID/stat).
struct CpuTimes {
  double busy_s = 0;  // all processors; user, system, interrupts; time stolen by a hypervisor aside
  double idle_s = 0;  // idle and waiting for input or output
  double stolen_s = 0;
};
Result<CpuTimes> machine_cpu_times(const SystemRoots& roots);
Result<double> process_cpu_seconds(pid_t pid, const SystemRoots& roots);

// Over the time since the reading before. Missing values: the kernel did not say.
struct UtilisationSample {
  Nanoseconds at{0};                    // since start()
  std::optional<double> machine_busy;   // share of all processors, 0 to 1
  std::optional<double> stolen;         // share taken by a hypervisor
  std::optional<double> process_cores;  // processors that this process kept busy
  std::optional<Bytes> resident;
  std::vector<std::optional<double>> gpu_busy;  // one a GPU
};

struct UtilisationSummary {
  std::vector<UtilisationSample> samples;
  // Means over the whole time, from its two ends, so they exist even for short runs.
  Result<double> machine_busy = Error{ErrorCode::kInvalid, "not measured"};
  Result<double> process_cores = Error{ErrorCode::kInvalid, "not measured"};
  Result<Bytes> peak_resident = Error{ErrorCode::kInvalid, "not measured"};  // VmHWM
};

struct UtilisationOptions {
  Nanoseconds period = std::chrono::seconds(1);  // shorter ones are made one second
  pid_t pid = 0;                                 // 0: this process
  SystemRoots roots;
  std::optional<Nvml> nvml;
  EnergyMeter* energy = nullptr;  // its update() is called; outlives the sampler
};

class UtilisationSampler {
 public:
  UtilisationSampler(UtilisationOptions options, const Clock& clock);
  ~UtilisationSampler();
  UtilisationSampler(const UtilisationSampler&) = delete;
  UtilisationSampler& operator=(const UtilisationSampler&) = delete;

  void start();
  UtilisationSummary stop();
  // One reading now, by the caller's thread; what the sampler's thread does each period.
  void sample();

 private:
  struct Reading {
    Nanoseconds at{0};
    Result<CpuTimes> machine = Error{};
    Result<double> process = Error{};
  };
  Reading read() const;
  void run();

  UtilisationOptions options_;
  const Clock& clock_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  Reading first_;
  Reading last_;
  std::vector<UtilisationSample> samples_;
};

}  // namespace assay

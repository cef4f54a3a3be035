// SPDX-License-Identifier: Apache-2.0
//
// Did others take the processor while we measured? Two readings around a timed run: the CPU time
// this process got, the kernel's pressure-stall information (Linux
// Documentation/accounting/psi.rst) and the time stolen by a hypervisor (/proc/stat). A reading
// costs some ten microseconds and is never taken inside a timed call. Thread-safe as far as the
// readers are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace assay {

struct ContentionReading {
  Nanoseconds wall{0};
  Nanoseconds process_cpu{0};
  Result<Nanoseconds> cpu_pressure = Nanoseconds(0);  // "some" total: time in which a task waited
  // Clock ticks of all processors since boot.
  Result<int64_t> steal_ticks = int64_t{0};
  int64_t total_ticks = 0;
};

// Where the numbers come from; tests give their own.
struct ContentionSources {
  std::function<Result<std::string>(const std::string& path)> read;
  std::function<Nanoseconds()> process_cpu;
  static ContentionSources system();
};

class ContentionProbe {
 public:
  explicit ContentionProbe(const Clock& clock,
                           ContentionSources sources = ContentionSources::system());
  ContentionReading read() const;

 private:
  const Clock& clock_;
  ContentionSources sources_;
};

struct Contention {
  double cpus_used = 0;                        // CPU seconds per second
  std::optional<double> pressure_share;        // of the time some task waited for a processor
  std::optional<double> steal_share;           // of all CPU time went to the hypervisor
  std::map<std::string, std::string> missing;  // "cpu_pressure" -> "unavailable (reason)"
  std::vector<std::string> marks;              // "contended: ..."
};

// `expected_cpus` is what an undisturbed run keeps busy at least (1: it computes all the time; 0:
// unknown, it may wait for a device). Marks: less than 90 % of the expected CPU time, pressure
// above 10 % of the time, steal above 1 % of CPU time.
Contention contention_between(const ContentionReading& before, const ContentionReading& after,
                              double expected_cpus = 1);

}  // namespace assay

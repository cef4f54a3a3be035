// SPDX-License-Identifier: Apache-2.0
//
// EnergyMeter: joules from counters that the machine keeps anyway; nothing is added to the measured
// code. Read at both ends of a run and, so that no counter wraps unseen, by update() in between (a
// 300 W package wraps the smallest RAPL range in some 15 minutes; the utilisation sampler calls it
// once a second). Sources:
//  - RAPL (Linux, Documentation/power/powercap/powercap.rst): energy_uj wraps at
//    max_energy_range_uj; since 2020 only root may read it;
//  - NVML: millijoules since the driver was loaded;
//  - hwmon: energy*_input in microjoules; power*_input in microwatts, integrated by trapezoids
//    between readings.
// A read costs some 20 us a domain (NVML: up to a millisecond). update() is thread-safe against
// itself; start() and stop() belong to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "machine/nvml.h"
#include "machine/system_roots.h"

namespace assay {

// What a domain feeds; decides what may be added up.
enum class EnergyKind : uint8_t {
  kPackage,   // a processor package, DRAM aside
  kDram,      // memory of a package
  kPart,      // part of a package (cores, graphics): counted there already
  kPlatform,  // the whole machine (psys): overlaps everything
  kGpu,
  kOther,  // a hwmon sensor whose place is unknown
};
std::string_view energy_kind_name(EnergyKind kind);  // "package", "dram", ...

// One counter. Reading again and again gives differences of a quantity that may wrap.
struct EnergyCounter {
  std::string domain;  // "package-0", "dram-1", "gpu-0", "hwmon0/energy1"
  EnergyKind kind = EnergyKind::kOther;
  bool is_power = false;              // read() gives watts to integrate, not joules
  std::optional<double> wrap_joules;  // the counter's range
  std::function<Result<double>()> read;
};

// Every counter that the machine has, readable or not.
std::vector<EnergyCounter> find_energy_counters(const SystemRoots& roots, const Nvml* nvml);

struct DomainEnergy {
  std::string domain;
  EnergyKind kind = EnergyKind::kOther;
  Result<double> joules;  // an error's message is the reason
  std::string method;     // "counter", "power integrated from N readings"
};

struct EnergyReport {
  std::vector<DomainEnergy> domains;
  // Packages, their memory and GPUs, as far as readable; an error when none is.
  Result<double> total_joules = Error{ErrorCode::kNotFound, "not measured"};
  std::vector<std::string> total_covers;  // "package", "dram", "gpu"
};

class EnergyMeter {
 public:
  // `clock` outlives the meter. `no_counter_reason` is what a report says when there are none.
  EnergyMeter(std::vector<EnergyCounter> counters, const Clock& clock,
              std::string no_counter_reason = "the machine has no energy counters");
  // All counters of this machine.
  static EnergyMeter open(const SystemRoots& roots, const Nvml* nvml, const Clock& clock);

  void start();
  void update();
  EnergyReport stop();

 private:
  struct Domain {
    EnergyCounter counter;
    std::optional<Error> error;  // the first failure since start()
    double last = 0;             // the reading
    Nanoseconds last_at{0};
    Nanoseconds longest_gap{0};
    int readings = 0;
    double joules = 0;
  };
  void read(Domain& domain);
  DomainEnergy report(const Domain& domain) const;

  const Clock& clock_;
  std::string no_counter_reason_;
  std::unique_ptr<std::mutex> mutex_;
  std::vector<Domain> domains_;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of the processor: /proc/cpuinfo and /sys/devices/system/cpu. Values the
// kernel does not give (virtual machines hide most) are errors whose message is the reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "machine/system_roots.h"

namespace assay {

struct CpuModel {
  Result<std::string> model;
  Result<std::string> vendor;
  Result<int64_t> family;
  Result<int64_t> model_number;
  Result<int64_t> stepping;
  Result<std::string> microcode;
  std::vector<std::string> isa;  // the extensions that matter for arithmetic, kernel's names
  bool hypervisor = false;       // the processor says that it is virtual
};

// The first processor of the text of /proc/cpuinfo (x86's and Arm's forms).
CpuModel parse_cpuinfo(const std::string& text);

// "performance", or "mixed: performance 4, powersave 8" (hybrid machines may differ by core).
Result<std::string> frequency_governor(const SystemRoots& roots);
Result<std::string> frequency_driver(const SystemRoots& roots);
struct FrequencyRange {
  int64_t min_hz = 0;  // of the slowest core
  int64_t max_hz = 0;  // of the fastest core
};
Result<FrequencyRange> frequency_range(const SystemRoots& roots);
// The mean over all processors at this moment: from cpufreq, else from /proc/cpuinfo.
Result<int64_t> frequency_now_hz(const SystemRoots& roots);
// Whether frequencies above the nominal one are allowed.
Result<bool> turbo_enabled(const SystemRoots& roots);
// "on", "off", "notsupported", as the kernel says.
Result<std::string> simultaneous_multithreading(const SystemRoots& roots);
// "KVM", "VMware", "Xen", "Hyper-V"; "none" on bare metal.
Result<std::string> hypervisor_name(const SystemRoots& roots, bool hypervisor_flag);

}  // namespace assay

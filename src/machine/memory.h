// SPDX-License-Identifier: Apache-2.0
//
// Memory of processes and of the machine, as the kernel counts it (man proc(5)). Each call reads
// one small file, some 20 us. Thread-safe.
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/units.h"
#include "machine/system_roots.h"

namespace assay {

// Physical memory of a process now (VmRSS), and the most it ever had (VmHWM). pid 0: this process.
Result<Bytes> resident_memory(pid_t pid = 0, const SystemRoots& roots = {});
Result<Bytes> peak_resident_memory(pid_t pid = 0, const SystemRoots& roots = {});

// Lets the peak of this process begin again at what it has now; kIo where the kernel refuses.
Result<void> reset_peak_resident_memory(const SystemRoots& roots = {});

// Physical memory that processes may use: the machine's, or less under a control group's limit.
Result<Bytes> usable_memory(const SystemRoots& roots = {});
// What could be allocated now without swapping (MemAvailable).
Result<Bytes> available_memory(const SystemRoots& roots = {});

}  // namespace assay

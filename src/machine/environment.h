// SPDX-License-Identifier: Apache-2.0
//
// The environment: everything about machine and software that is needed to repeat a run, as the
// JSON kept with every record (docs/environment.md lists the fields). A value that is unknown is
// null and its field named in "missing" with the reason. Collecting takes a few ms, and the start
// of NVML where there is an NVIDIA driver. Host and user names are left out. Thread-safe.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/json_fwd.h"
#include "machine/nvml.h"
#include "machine/system_roots.h"

namespace assay {

struct EnvironmentSources {
  SystemRoots roots;
  std::function<Result<NvmlFunctions>()> nvml = [] { return load_nvml(); };
  std::string synthetic_topology;  // hwloc's description, for tests
};

Json collect_environment(const EnvironmentSources& sources);
Json collect_environment();

// The first 16 hexadecimal digits of the SHA-256 of what stays the same between two runs: all but
// "now" (readings of the moment) and "build" (a record has its code version beside).
std::string environment_id(const Json& environment);

}  // namespace assay

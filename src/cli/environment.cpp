// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "engine/plugin.h"
#include "machine/energy.h"
#include "machine/environment.h"

namespace assay::cli {

namespace {

// Counters that can be read, or the reason why there is none.
std::string energy_text() {
  std::vector<std::string> names;
  std::string reason = "the machine has no energy counters";
  for (const EnergyCounter& counter : find_energy_counters(SystemRoots(), nullptr)) {
    const Result<double> joules = counter.read();
    if (joules.ok())
      names.push_back(counter.domain);
    else
      reason = joules.error().message;
  }
  return names.empty() ? "unavailable (" + reason + ")" : join(names, ", ");
}

}  // namespace

Json environment_json() {
  Json environment = collect_environment();
  Json engines = Json::array();
  for (const EngineInfo& engine : available_engines())
    if (engine.available) engines.push_back({{"name", engine.name}, {"version", engine.version}});
  environment["engines"] = std::move(engines);
  environment["energy"] = energy_text();
  environment.erase("now");  // readings of the moment would make every run another environment
  return environment;
}

}  // namespace assay::cli

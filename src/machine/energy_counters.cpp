// SPDX-License-Identifier: Apache-2.0
//
// Where energy counters are found: powercap, hwmon, NVML.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "machine/energy.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The kernel's micro-units in a file, as joules or watts.
std::function<Result<double>()> micro_reader(const fs::path& file) {
  return [file]() -> Result<double> {
    ASSAY_ASSIGN(const int64_t micro, read_kernel_int(file));
    return static_cast<double>(micro) / 1e6;
  };
}

EnergyKind rapl_kind(const std::string& name) {
  if (name.starts_with("package")) return EnergyKind::kPackage;
  if (name == "dram") return EnergyKind::kDram;
  if (name == "psys") return EnergyKind::kPlatform;
  if (name == "core" || name == "uncore") return EnergyKind::kPart;
  return EnergyKind::kOther;
}

// intel-rapl:0 is a package, intel-rapl:0:1 a part of it. The memory-mapped twin intel-rapl-mmio
// shows the same package again and is left out. (AMD processors appear under the same name.)
void find_rapl(const SystemRoots& roots, std::vector<EnergyCounter>& counters) {
  for (const fs::path& zone : sorted_entries(roots.sys / "class/powercap")) {
    const std::string id = zone.filename().string();
    constexpr std::string_view kPrefix = "intel-rapl:";
    if (!id.starts_with(kPrefix)) continue;
    const std::string numbers = id.substr(kPrefix.size());
    const auto name = read_kernel_file(zone / "name");
    if (!name.ok()) continue;
    EnergyCounter counter;
    counter.kind = rapl_kind(*name);
    const std::string package = numbers.substr(0, numbers.find(':'));
    const bool numbered = name->find('-') != std::string::npos || *name == "psys";
    counter.domain = numbered ? *name : fmt::format("{}-{}", *name, package);
    counter.read = micro_reader(zone / "energy_uj");
    const auto range = read_kernel_int(zone / "max_energy_range_uj");
    if (range.ok()) counter.wrap_joules = static_cast<double>(*range) / 1e6;
    counters.push_back(std::move(counter));
  }
}

bool is_input(const std::string& name, std::string_view kind) {
  return name.starts_with(kind) && name.ends_with("_input") &&
         name.size() > kind.size() + std::string_view("_input").size();
}

void find_hwmon(const SystemRoots& roots, std::vector<EnergyCounter>& counters) {
  for (const fs::path& sensor : sorted_entries(roots.sys / "class/hwmon")) {
    for (const fs::path& file : sorted_entries(sensor)) {
      const std::string name = file.filename().string();
      const bool energy = is_input(name, "energy");
      if (!energy && !is_input(name, "power")) continue;
      const std::string stem = name.substr(0, name.size() - std::string_view("_input").size());
      const auto chip = read_kernel_file(sensor / "name");
      const auto label = read_kernel_file(sensor / (stem + "_label"));
      EnergyCounter counter;
      counter.domain = fmt::format("{}/{}", sensor.filename().string(), stem);
      if (chip.ok()) counter.domain += " " + *chip;
      if (label.ok()) counter.domain += " " + *label;
      // amd_energy's sockets are packages; its cores are parts of them.
      if (chip.ok() && *chip == "amd_energy" && label.ok()) {
        counter.kind = label->starts_with("Esocket") ? EnergyKind::kPackage : EnergyKind::kPart;
      }
      counter.is_power = !energy;
      counter.read = micro_reader(file);
      counters.push_back(std::move(counter));
    }
  }
}

void find_gpus(const Nvml& nvml, std::vector<EnergyCounter>& counters) {
  for (int gpu = 0; gpu < nvml.gpu_count(); ++gpu) {
    EnergyCounter counter;
    counter.domain = fmt::format("gpu-{}", gpu);
    counter.kind = EnergyKind::kGpu;
    counter.read = [nvml, gpu] { return nvml.energy_joules(gpu); };
    counters.push_back(std::move(counter));
  }
}

}  // namespace

std::vector<EnergyCounter> find_energy_counters(const SystemRoots& roots, const Nvml* nvml) {
  std::vector<EnergyCounter> counters;
  find_rapl(roots, counters);
  // RAPL already covers the packages that amd_energy would show again.
  const bool packages = std::any_of(counters.begin(), counters.end(), [](const EnergyCounter& c) {
    return c.kind == EnergyKind::kPackage;
  });
  const size_t before = counters.size();
  find_hwmon(roots, counters);
  for (size_t i = before; packages && i < counters.size(); ++i) {
    if (counters[i].kind == EnergyKind::kPackage) counters[i].kind = EnergyKind::kOther;
  }
  if (nvml != nullptr) find_gpus(*nvml, counters);
  return counters;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "study/resources.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/files.h"
#include "base/text.h"

namespace assay {
namespace {

// Linux, proc(5): writing 5 to clear_refs sets VmHWM to what is resident now.
bool reset_peak() {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, "5", 1) == 1;
  close(fd);
  return written;
}

std::optional<double> peak_bytes() {
  const Result<std::string> status = read_file("/proc/self/status");
  if (!status.ok()) return std::nullopt;
  for (const std::string& line : split(*status, '\n')) {
    if (!line.starts_with("VmHWM:")) continue;
    const std::string_view value = trim(std::string_view(line).substr(6));
    const Result<int64_t> kib = parse_int(value.substr(0, value.find(' ')));
    if (kib.ok()) return static_cast<double>(*kib) * 1024;
  }
  return std::nullopt;
}

}  // namespace

ResourceWatch::ResourceWatch(const Clock& clock, const Device& device)
    : nvml_(device.kind == DeviceKind::kCuda ? Nvml::start(load_nvml())
                                             : Error{ErrorCode::kNotFound, "not a GPU's run"}),
      energy_(EnergyMeter::open(SystemRoots(), nvml_.ok() ? &*nvml_ : nullptr, clock)),
      peak_reset_(reset_peak()) {
  energy_.start();
}

void ResourceWatch::finish(Record& record) {
  const EnergyReport energy = energy_.stop();
  if (energy.total_joules.ok()) {
    record.add("energy_joules", *energy.total_joules);
    record.facts["energy_covers"] = join(energy.total_covers, ", ");
  } else {
    record.missing["energy_joules"] = "unavailable (" + energy.total_joules.error().message + ")";
  }
  if (const std::optional<double> peak = peak_bytes(); peak && peak_reset_)
    record.add("peak_rss_bytes", *peak);
  else
    record.missing["peak_rss_bytes"] = "the kernel does not let this process reset its peak";
}

}  // namespace assay

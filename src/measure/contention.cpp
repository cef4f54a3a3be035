// SPDX-License-Identifier: Apache-2.0
#include "measure/contention.h"

#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr const char* kPressureFile = "/proc/pressure/cpu";
constexpr const char* kStatFile = "/proc/stat";
constexpr double kLeastCpuShare = 0.9;
constexpr double kMostPressure = 0.1;
constexpr double kMostSteal = 0.01;

Error not_understood(const char* file) {
  return {ErrorCode::kCorrupt, "its text is not understood", file};
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": microseconds.
Result<Nanoseconds> pressure_of(std::string_view text) {
  for (const std::string& line : split(text, '\n')) {
    const size_t at = line.find(" total=");
    if (!line.starts_with("some ") || at == std::string::npos) continue;
    const auto total = parse_int(std::string_view(line).substr(at + 7));
    if (total.ok()) return Nanoseconds(std::chrono::microseconds(*total));
  }
  return not_understood(kPressureFile);
}

struct Ticks {
  int64_t steal = 0;
  int64_t total = 0;
};

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice"; guest times are already
// part of user and nice.
Result<Ticks> ticks_of(std::string_view text) {
  constexpr size_t kStealField = 8;
  const std::string line(text.substr(0, text.find('\n')));
  std::vector<std::string> fields;
  for (std::string& field : split(line, ' ')) {
    if (!field.empty()) fields.push_back(std::move(field));
  }
  if (fields.size() <= kStealField || fields[0] != "cpu") return not_understood(kStatFile);
  Ticks ticks;
  for (size_t i = 1; i <= kStealField; ++i) {
    const auto value = parse_int(fields[i]);
    if (!value.ok()) return not_understood(kStatFile);
    ticks.total += *value;
    if (i == kStealField) ticks.steal = *value;
  }
  return ticks;
}

std::string unavailable(const Error& error) { return "unavailable (" + error.text() + ")"; }

}  // namespace

ContentionSources ContentionSources::system() {
  return {[](const std::string& path) { return read_file(path); },
          [] { return process_cpu_time(); }};
}

ContentionProbe::ContentionProbe(const Clock& clock, ContentionSources sources)
    : clock_(clock), sources_(std::move(sources)) {}

ContentionReading ContentionProbe::read() const {
  ContentionReading reading;
  const auto pressure = sources_.read(kPressureFile);
  reading.cpu_pressure = pressure.ok() ? pressure_of(*pressure) : pressure.error();
  const auto stat = sources_.read(kStatFile);
  auto ticks = stat.ok() ? ticks_of(*stat) : Result<Ticks>(stat.error());
  if (ticks.ok()) {
    reading.steal_ticks = ticks->steal;
    reading.total_ticks = ticks->total;
  } else {
    reading.steal_ticks = ticks.error();
  }
  reading.process_cpu = sources_.process_cpu();
  reading.wall = clock_.now();
  return reading;
}

Contention contention_between(const ContentionReading& before, const ContentionReading& after,
                              double expected_cpus) {
  Contention result;
  const double wall = Seconds(after.wall - before.wall).count();
  if (wall <= 0) return result;
  result.cpus_used = Seconds(after.process_cpu - before.process_cpu).count() / wall;
  if (result.cpus_used < kLeastCpuShare * expected_cpus) {
    result.marks.push_back(
        fmt::format("contended: the process got {:.2f} CPU seconds a second, {:.2f} expected",
                    result.cpus_used, expected_cpus));
  }
  if (before.cpu_pressure.ok() && after.cpu_pressure.ok()) {
    result.pressure_share = Seconds(*after.cpu_pressure - *before.cpu_pressure).count() / wall;
    if (*result.pressure_share > kMostPressure) {
      result.marks.push_back(fmt::format(
          "contended: some task waited for a processor {:.0f} % of the time (pressure stall)",
          100 * *result.pressure_share));
    }
  } else {
    result.missing["cpu_pressure"] =
        unavailable((before.cpu_pressure.ok() ? after : before).cpu_pressure.error());
  }
  if (before.steal_ticks.ok() && after.steal_ticks.ok()) {
    const auto total = static_cast<double>(after.total_ticks - before.total_ticks);
    const auto stolen = static_cast<double>(*after.steal_ticks - *before.steal_ticks);
    // A run shorter than a tick has no share to tell.
    if (total > 0) result.steal_share = stolen / total;
    if (result.steal_share.value_or(0) > kMostSteal) {
      result.marks.push_back(
          fmt::format("contended: the hypervisor took {:.1f} % of the CPU time (steal)",
                      100 * *result.steal_share));
    }
  } else {
    result.missing["cpu_steal"] =
        unavailable((before.steal_ticks.ok() ? after : before).steal_ticks.error());
  }
  return result;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "machine/energy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace assay {
namespace {

// A power sensor read more seldom than this says too little about what happened in between.
constexpr Nanoseconds kLongestPowerGap = std::chrono::seconds(3);

bool adds_up(EnergyKind kind) {
  return kind == EnergyKind::kPackage || kind == EnergyKind::kDram || kind == EnergyKind::kGpu;
}

}  // namespace

std::string_view energy_kind_name(EnergyKind kind) {
  switch (kind) {
    case EnergyKind::kPackage:
      return "package";
    case EnergyKind::kDram:
      return "dram";
    case EnergyKind::kPart:
      return "part";
    case EnergyKind::kPlatform:
      return "platform";
    case EnergyKind::kGpu:
      return "gpu";
    case EnergyKind::kOther:
      return "other";
  }
  ASSAY_ASSERT(false, "unknown kind");
}

EnergyMeter::EnergyMeter(std::vector<EnergyCounter> counters, const Clock& clock,
                         std::string no_counter_reason)
    : clock_(clock),
      no_counter_reason_(std::move(no_counter_reason)),
      mutex_(std::make_unique<std::mutex>()) {
  for (EnergyCounter& counter : counters) {
    Domain domain;
    domain.counter = std::move(counter);
    domains_.push_back(std::move(domain));
  }
}

EnergyMeter EnergyMeter::open(const SystemRoots& roots, const Nvml* nvml, const Clock& clock) {
  return EnergyMeter(
      find_energy_counters(roots, nvml), clock,
      fmt::format("no energy counters: {} and {} show none{}; usual in virtual "
                  "machines",
                  (roots.sys / "class/powercap").string(), (roots.sys / "class/hwmon").string(),
                  nvml == nullptr ? ", and there is no NVIDIA GPU" : ""));
}

void EnergyMeter::read(Domain& domain) {
  if (domain.error) return;
  const auto reading = domain.counter.read();
  const Nanoseconds now = clock_.now();
  if (!reading.ok()) {
    domain.error = reading.error();
    return;
  }
  if (domain.readings > 0) {
    const Nanoseconds gap = now - domain.last_at;
    domain.longest_gap = std::max(domain.longest_gap, gap);
    if (domain.counter.is_power) {
      domain.joules += Seconds(gap).count() * (domain.last + *reading) / 2;
    } else {
      double used = *reading - domain.last;
      if (used < 0 && domain.counter.wrap_joules) used += *domain.counter.wrap_joules;
      if (used < 0) {
        domain.error = Error{ErrorCode::kCorrupt, "the counter went backwards"};
        return;
      }
      domain.joules += used;
    }
  }
  domain.last = *reading;
  domain.last_at = now;
  ++domain.readings;
}

void EnergyMeter::start() {
  const std::scoped_lock lock(*mutex_);
  for (Domain& domain : domains_) {
    domain.error.reset();
    domain.readings = 0;
    domain.joules = 0;
    domain.longest_gap = Nanoseconds(0);
    read(domain);
  }
}

void EnergyMeter::update() {
  const std::scoped_lock lock(*mutex_);
  for (Domain& domain : domains_) read(domain);
}

DomainEnergy EnergyMeter::report(const Domain& domain) const {
  const EnergyCounter& counter = domain.counter;
  DomainEnergy energy{counter.domain, counter.kind, domain.joules, "counter"};
  if (counter.is_power) {
    energy.method = fmt::format("power integrated from {} readings", domain.readings);
  }
  if (domain.error) {
    energy.joules = *domain.error;
  } else if (domain.readings < 2) {
    energy.joules = Error{ErrorCode::kInvalid, "the meter was not started"};
  } else if (counter.is_power && domain.longest_gap > kLongestPowerGap) {
    energy.joules = Error{ErrorCode::kInvalid, "the power sensor was read too seldom"};
  }
  return energy;
}

EnergyReport EnergyMeter::stop() {
  const std::scoped_lock lock(*mutex_);
  EnergyReport result;
  double total = 0;
  std::string reason;
  for (Domain& domain : domains_) {
    if (domain.readings > 0) read(domain);
    result.domains.push_back(report(domain));
    const DomainEnergy& energy = result.domains.back();
    if (!adds_up(energy.kind)) continue;
    if (!energy.joules.ok()) {
      if (reason.empty()) reason = energy.domain + ": " + energy.joules.error().message;
      continue;
    }
    total += *energy.joules;
    const std::string kind(energy_kind_name(energy.kind));
    if (std::find(result.total_covers.begin(), result.total_covers.end(), kind) ==
        result.total_covers.end()) {
      result.total_covers.push_back(kind);
    }
  }
  if (!result.total_covers.empty()) {
    result.total_joules = total;
  } else {
    if (reason.empty()) {
      reason = domains_.empty() ? no_counter_reason_ : "no counter covers a processor or a GPU";
    }
    result.total_joules = Error{ErrorCode::kNotFound, reason};
  }
  return result;
}

}  // namespace assay

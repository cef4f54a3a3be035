// SPDX-License-Identifier: Apache-2.0
#include "machine/utilisation.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "machine/memory.h"

namespace assay {
namespace {

constexpr Nanoseconds kShortestPeriod = std::chrono::seconds(1);

double ticks_to_seconds(int64_t ticks) {
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<double> share(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return std::clamp(part / whole, 0.0, 1.0);
}

// The share of all processors that was busy between two readings.
std::optional<double> busy_share(const CpuTimes& from, const CpuTimes& to) {
  const double busy = to.busy_s - from.busy_s;
  const double stolen = to.stolen_s - from.stolen_s;
  return share(busy, busy + stolen + to.idle_s - from.idle_s);
}

std::optional<double> stolen_share(const CpuTimes& from, const CpuTimes& to) {
  const double stolen = to.stolen_s - from.stolen_s;
  return share(stolen, to.busy_s - from.busy_s + stolen + to.idle_s - from.idle_s);
}

}  // namespace

Result<CpuTimes> machine_cpu_times(const SystemRoots& roots) {
  ASSAY_ASSIGN(const std::string text, read_kernel_file(roots.proc / "stat"));
  const std::string line = text.substr(0, text.find('\n'));
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are in user
  // already.
  std::array<int64_t, 8> ticks{};
  size_t count = 0;
  for (const std::string& word : split(line, ' ')) {
    if (word.empty() || word == "cpu") continue;
    if (count == ticks.size()) break;
    ASSAY_ASSIGN(ticks[count], parse_int(word));
    ++count;
  }
  if (!line.starts_with("cpu ") || count < 4) {
    return Error{ErrorCode::kCorrupt, "the first line of /proc/stat is not of processors"};
  }
  CpuTimes times;
  times.busy_s = ticks_to_seconds(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]);
  times.idle_s = ticks_to_seconds(ticks[3] + ticks[4]);
  times.stolen_s = ticks_to_seconds(ticks[7]);
  return times;
}

Result<double> process_cpu_seconds(pid_t pid, const SystemRoots& roots) {
  const std::string who = pid == 0 ? "self" : std::to_string(pid);
  ASSAY_ASSIGN(const std::string text, read_kernel_file(roots.proc / who / "stat"));
  // "pid (name) state ...": the name may hold blanks and brackets; utime and stime are fields 14
  // and 15, the 12th and 13th after the name.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) {
    return Error{ErrorCode::kCorrupt, "/proc's stat of a process has no name"};
  }
  const auto fields = split(text.substr(name_end + 2), ' ');
  if (fields.size() < 13) {
    return Error{ErrorCode::kCorrupt, "/proc's stat of a process is too short"};
  }
  ASSAY_ASSIGN(const int64_t user, parse_int(fields[11]));
  ASSAY_ASSIGN(const int64_t system, parse_int(fields[12]));
  return ticks_to_seconds(user + system);
}

UtilisationSampler::UtilisationSampler(UtilisationOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  options_.period = std::max(options_.period, kShortestPeriod);
}

UtilisationSampler::~UtilisationSampler() {
  if (thread_.joinable()) (void)stop();
}

UtilisationSampler::Reading UtilisationSampler::read() const {
  return {clock_.now(), machine_cpu_times(options_.roots),
          process_cpu_seconds(options_.pid, options_.roots)};
}

void UtilisationSampler::start() {
  ASSAY_ASSERT(!thread_.joinable(), "the sampler runs already");
  samples_.clear();
  stopping_ = false;
  first_ = read();
  last_ = first_;
  thread_ = std::thread([this] { run(); });
}

void UtilisationSampler::run() {
  ::pthread_setname_np(::pthread_self(), "assay-sampler");
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, options_.period, [this] { return stopping_; })) return;
    }
    sample();
    if (options_.energy != nullptr) options_.energy->update();
  }
}

void UtilisationSampler::sample() {
  const Reading now = read();
  UtilisationSample sample;
  const auto resident = resident_memory(options_.pid, options_.roots);
  if (resident.ok()) sample.resident = *resident;
  const int gpus = options_.nvml ? options_.nvml->gpu_count() : 0;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const auto busy = options_.nvml->activity(gpu).busy;
    sample.gpu_busy.push_back(busy.ok() ? std::optional(*busy) : std::nullopt);
  }
  const std::scoped_lock lock(mutex_);
  sample.at = now.at - first_.at;
  if (now.machine.ok() && last_.machine.ok()) {
    sample.machine_busy = busy_share(*last_.machine, *now.machine);
    sample.stolen = stolen_share(*last_.machine, *now.machine);
  }
  const double elapsed = Seconds(now.at - last_.at).count();
  if (now.process.ok() && last_.process.ok() && elapsed > 0) {
    sample.process_cores = (*now.process - *last_.process) / elapsed;
  }
  samples_.push_back(std::move(sample));
  last_ = now;
}

UtilisationSummary UtilisationSampler::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  const Reading end = read();
  UtilisationSummary summary;
  summary.samples = std::move(samples_);
  summary.peak_resident = peak_resident_memory(options_.pid, options_.roots);
  const Error too_short{ErrorCode::kInvalid, "too short for the kernel's clock tick"};
  if (!first_.machine.ok()) {
    summary.machine_busy = first_.machine.error();
  } else if (!end.machine.ok()) {
    summary.machine_busy = end.machine.error();
  } else {
    const auto busy = busy_share(*first_.machine, *end.machine);
    summary.machine_busy = busy ? Result<double>(*busy) : Result<double>(too_short);
  }
  const double elapsed = Seconds(end.at - first_.at).count();
  if (!first_.process.ok()) {
    summary.process_cores = first_.process.error();
  } else if (!end.process.ok()) {
    summary.process_cores = end.process.error();
  } else {
    summary.process_cores = elapsed > 0 ? Result<double>((*end.process - *first_.process) / elapsed)
                                        : Result<double>(too_short);
  }
  return summary;
}

}  // namespace assay

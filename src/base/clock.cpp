// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <time.h>

#include <cerrno>

#include <fmt/format.h>

namespace assay {
namespace {

Nanoseconds read_clock(clockid_t id) {
  timespec value{};
  clock_gettime(id, &value);
  return std::chrono::seconds(value.tv_sec) + Nanoseconds(value.tv_nsec);
}

}  // namespace

Nanoseconds SteadyClock::now() const { return read_clock(CLOCK_MONOTONIC); }

std::chrono::milliseconds SteadyClock::unix_time() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(read_clock(CLOCK_REALTIME));
}

void SteadyClock::sleep(Nanoseconds duration) const {
  if (duration <= Nanoseconds::zero()) return;
  timespec rest{};
  rest.tv_sec = duration.count() / 1'000'000'000;
  rest.tv_nsec = duration.count() % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {
  }
}

std::chrono::milliseconds FakeClock::unix_time() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(now_);
}

Nanoseconds thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
Nanoseconds process_cpu_time() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::string iso8601(std::chrono::milliseconds unix_time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(unix_time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{std::chrono::sys_days{day}};
  const std::chrono::hh_mm_ss time{seconds - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace assay

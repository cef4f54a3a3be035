// SPDX-License-Identifier: Apache-2.0
//
// Time is passed in: whoever measures takes a Clock, so that tests can use a fake one.
#pragma once

#include <chrono>
#include <string>

namespace assay {

using Nanoseconds = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

// A monotonic time and a wall time. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds now() const = 0;                      // monotonic, origin unspecified
  virtual std::chrono::milliseconds unix_time() const = 0;  // since 1970-01-01 UTC
  virtual void sleep(Nanoseconds duration) const = 0;
};

// CLOCK_MONOTONIC and CLOCK_REALTIME; now() costs about 25 ns (vDSO).
class SteadyClock final : public Clock {
 public:
  Nanoseconds now() const override;
  std::chrono::milliseconds unix_time() const override;
  void sleep(Nanoseconds duration) const override;
};

// Moves only when told to, or when slept on. Not thread-safe.
class FakeClock final : public Clock {
 public:
  Nanoseconds now() const override { return now_; }
  std::chrono::milliseconds unix_time() const override;
  void sleep(Nanoseconds duration) const override { now_ += duration; }
  void advance(Nanoseconds duration) { now_ += duration; }

 private:
  mutable Nanoseconds now_{0};
};

// CPU time of the calling thread and of the whole process (CLOCK_THREAD/PROCESS_CPUTIME_ID).
Nanoseconds thread_cpu_time();
Nanoseconds process_cpu_time();

// "2026-12-01T11:28:33Z"
std::string iso8601(std::chrono::milliseconds unix_time);

}  // namespace assay

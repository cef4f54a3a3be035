// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using std::chrono::milliseconds;

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock;
  const Nanoseconds start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(milliseconds(3));
  clock.sleep(milliseconds(4));
  EXPECT_EQ(clock.now() - start, milliseconds(7));
  EXPECT_EQ(clock.unix_time(), milliseconds(7));
}

TEST(SteadyClock, NeverGoesBackAndSleepsAtLeastAsLongAsAsked) {
  const SteadyClock clock;
  const Nanoseconds start = clock.now();
  clock.sleep(milliseconds(2));
  EXPECT_GE(clock.now() - start, milliseconds(2));
  clock.sleep(Nanoseconds(-5));
  EXPECT_GT(clock.unix_time(), milliseconds(1'600'000'000'000));
}

TEST(CpuTime, GrowsWithWorkAndThreadTimeIsPartOfProcessTime) {
  const Nanoseconds process_before = process_cpu_time();
  const Nanoseconds thread_before = thread_cpu_time();
  volatile double sink = 0;
  while (thread_cpu_time() - thread_before < milliseconds(2)) sink = sink + 1;
  EXPECT_GE(process_cpu_time() - process_before, milliseconds(2));
}

TEST(Iso8601, WritesUtcSecondsOfAnyYear) {
  EXPECT_EQ(iso8601(milliseconds(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso8601(milliseconds(1'796'124'513'999)), "2026-12-01T11:28:33Z");
  EXPECT_EQ(iso8601(milliseconds(951'782'400'000)), "2000-02-29T00:00:00Z");
  EXPECT_EQ(iso8601(milliseconds(-1)), "1969-12-31T23:59:59Z");
}

}  // namespace
}  // namespace assay

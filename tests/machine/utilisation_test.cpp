// SPDX-License-Identifier: Apache-2.0
#include "machine/utilisation.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/fake_nvml.h"
#include "machine/system_tree.h"

namespace assay {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class UtilisationTest : public ::testing::Test {
 protected:
  UtilisationTest() {
    options_.roots = tree_.roots();
    options_.pid = 42;
    options_.period = seconds(3600);  // the tests read by hand
  }
  // Machine times and the process's user and system times, in seconds.
  void times(int64_t user, int64_t idle, int64_t steal, int64_t utime, int64_t stime) {
    const int64_t hz = ::sysconf(_SC_CLK_TCK);
    tree_.write("proc/stat", "cpu  " + std::to_string(user * hz) + " 0 0 " +
                                 std::to_string(idle * hz) + " 0 0 0 " +
                                 std::to_string(steal * hz) + " 0 0\ncpu0 1 2 3");
    tree_.write("proc/42/stat", "42 (a (b) c) R 1 1 1 0 -1 4194560 100 0 0 0 " +
                                    std::to_string(utime * hz) + " " + std::to_string(stime * hz) +
                                    " 0 0 20 0");
    tree_.write("proc/42/status", "Name:\ta\nVmHWM:\t 2048 kB\nVmRSS:\t 1024 kB");
  }
  SystemTree tree_;
  FakeClock clock_;
  UtilisationOptions options_;
};

TEST_F(UtilisationTest, SharesAreOverTheTimeSinceTheReadingBefore) {
  times(100, 1000, 0, 50, 10);
  UtilisationSampler sampler(options_, clock_);
  sampler.start();
  clock_.advance(seconds(10));
  times(110, 1008, 2, 58, 12);  // two processors for ten seconds
  sampler.sample();
  clock_.advance(seconds(10));
  times(110, 1028, 2, 58, 12);
  sampler.sample();
  const UtilisationSummary summary = sampler.stop();
  ASSERT_EQ(summary.samples.size(), 2U);
  const UtilisationSample& first = summary.samples[0];
  EXPECT_EQ(first.at, seconds(10));
  EXPECT_DOUBLE_EQ(*first.machine_busy, 0.5);
  EXPECT_DOUBLE_EQ(*first.stolen, 0.1);
  EXPECT_DOUBLE_EQ(*first.process_cores, 1.0);
  EXPECT_EQ(first.resident->count, 1024 * 1024);
  EXPECT_DOUBLE_EQ(*summary.samples[1].machine_busy, 0);
  EXPECT_DOUBLE_EQ(*summary.machine_busy, 0.25);
  EXPECT_DOUBLE_EQ(*summary.process_cores, 0.5);
  EXPECT_EQ(summary.peak_resident->count, 2048 * 1024);
}

TEST_F(UtilisationTest, MissingFilesLeaveReasonsNotZeros) {
  UtilisationSampler sampler(options_, clock_);
  sampler.start();
  clock_.advance(seconds(1));
  sampler.sample();
  const UtilisationSummary summary = sampler.stop();
  ASSERT_EQ(summary.samples.size(), 1U);
  EXPECT_FALSE(summary.samples[0].machine_busy.has_value());
  EXPECT_FALSE(summary.samples[0].resident.has_value());
  EXPECT_THAT(summary.machine_busy.error().message, HasSubstr("is absent"));
  EXPECT_THAT(summary.process_cores.error().message, HasSubstr("is absent"));
  EXPECT_FALSE(summary.peak_resident.ok());
}

TEST_F(UtilisationTest, DamagedFilesAreErrors) {
  for (const char* stat : {"", "cpu", "cpu  1 2", "cpu  1 2 x 4 5 6 7 8", "intr 1 2 3 4 5"}) {
    tree_.write("proc/stat", stat);
    EXPECT_FALSE(machine_cpu_times(tree_.roots()).ok()) << stat;
  }
  for (const char* stat : {"", "42 (a", "42 (a) R 1 2 3", "42 (a) R 1 1 1 0 -1 4 1 0 0 0 x y"}) {
    tree_.write("proc/42/stat", stat);
    EXPECT_FALSE(process_cpu_seconds(42, tree_.roots()).ok()) << stat;
  }
}

TEST_F(UtilisationTest, ReadsGpus) {
  FakeDriver driver;
  driver.gpus = 2;
  times(1, 1, 0, 1, 1);
  options_.nvml = *Nvml::start(fake_nvml(driver));
  UtilisationSampler sampler(options_, clock_);
  sampler.start();
  sampler.sample();
  const UtilisationSummary summary = sampler.stop();
  ASSERT_EQ(summary.samples[0].gpu_busy.size(), 2U);
  EXPECT_DOUBLE_EQ(*summary.samples[0].gpu_busy[0], 0.75);
}

TEST_F(UtilisationTest, ARunTooShortToMeasureSaysSo) {
  times(1, 1, 0, 1, 1);
  UtilisationSampler sampler(options_, clock_);
  sampler.start();
  const UtilisationSummary summary = sampler.stop();
  EXPECT_THAT(summary.machine_busy.error().message, HasSubstr("too short"));
  EXPECT_THAT(summary.process_cores.error().message, HasSubstr("too short"));
}

TEST(Utilisation, OfThisMachineEndsPromptlyAndReadsTheRealFiles) {
  const SteadyClock clock;
  UtilisationSampler sampler({}, clock);
  sampler.start();
  sampler.sample();
  const UtilisationSummary summary = sampler.stop();  // at once, not after the period
  EXPECT_GE(summary.samples.size(), 1U);
  EXPECT_TRUE(summary.process_cores.ok());
  EXPECT_TRUE(summary.peak_resident.ok());
  EXPECT_TRUE(machine_cpu_times({}).ok());
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "measure/contention.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A machine made of text.
struct FakeMachine {
  std::map<std::string, std::string> files = {
      {"/proc/pressure/cpu",
       "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 total=99\n"},
      {"/proc/stat", "cpu  1000 0 200 8000 50 0 10 100 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"}};
  Nanoseconds process_cpu{0};
  FakeClock clock;

  ContentionProbe probe() {
    return ContentionProbe(
        clock, {[this](const std::string& path) -> Result<std::string> {
                  const auto file = files.find(path);
                  if (file == files.end()) {
                    return Error{ErrorCode::kNotFound, "cannot read: No such file", path};
                  }
                  return file->second;
                },
                [this] { return process_cpu; }});
  }
};

TEST(Contention, IsSilentOnAQuietMachine) {
  FakeMachine machine;
  const ContentionProbe probe = machine.probe();
  const auto before = probe.read();
  machine.clock.advance(milliseconds(1000));
  machine.process_cpu += milliseconds(990);
  machine.files["/proc/pressure/cpu"] = "some avg10=0.00 total=1020000\n";
  machine.files["/proc/stat"] = "cpu  1100 0 200 8100 50 0 10 100 0 0\n";
  const Contention found = contention_between(before, probe.read());
  EXPECT_THAT(found.marks, IsEmpty());
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_NEAR(found.cpus_used, 0.99, 1e-9);
  EXPECT_NEAR(*found.pressure_share, 0.02, 1e-9);
  EXPECT_EQ(*found.steal_share, 0);
}

TEST(Contention, MarksEveryWayTheProcessorWasTaken) {
  FakeMachine machine;
  const ContentionProbe probe = machine.probe();
  const auto before = probe.read();
  machine.clock.advance(milliseconds(2000));
  machine.process_cpu += milliseconds(1400);
  machine.files["/proc/pressure/cpu"] = "some avg10=0.00 total=1460000\n";
  machine.files["/proc/stat"] = "cpu  1100 0 200 8090 50 0 10 110 0 0\n";
  const Contention found = contention_between(before, probe.read(), 1);
  EXPECT_THAT(
      found.marks,
      ElementsAre("contended: the process got 0.70 CPU seconds a second, 1.00 expected",
                  "contended: some task waited for a processor 23 % of the time (pressure stall)",
                  "contended: the hypervisor took 5.0 % of the CPU time (steal)"));
}

TEST(Contention, ExpectsNothingOfAProcessThatMayWaitForADevice) {
  FakeMachine machine;
  const ContentionProbe probe = machine.probe();
  const auto before = probe.read();
  machine.clock.advance(milliseconds(1000));
  EXPECT_THAT(contention_between(before, probe.read(), 0).marks, IsEmpty());
}

TEST(Contention, SaysWhyAReadingIsUnavailable) {
  FakeMachine machine;
  machine.files.erase("/proc/pressure/cpu");
  machine.files["/proc/stat"] = "nonsense";
  const ContentionProbe probe = machine.probe();
  const auto before = probe.read();
  machine.clock.advance(milliseconds(1000));
  machine.process_cpu += milliseconds(1000);
  const Contention found = contention_between(before, probe.read());
  EXPECT_EQ(found.pressure_share, std::nullopt);
  EXPECT_EQ(found.steal_share, std::nullopt);
  EXPECT_EQ(found.missing.at("cpu_pressure"),
            "unavailable (cannot read: No such file (/proc/pressure/cpu))");
  EXPECT_THAT(found.missing.at("cpu_steal"), HasSubstr("not understood (/proc/stat)"));
  EXPECT_THAT(found.marks, IsEmpty());
}

TEST(Contention, DoesNotTrustDamagedNumbers) {
  for (const char* text : {"some avg10=0.00 total=\n", "some total=abc\n", "full total=5\n", ""}) {
    FakeMachine machine;
    machine.files["/proc/pressure/cpu"] = text;
    EXPECT_FALSE(machine.probe().read().cpu_pressure.ok()) << text;
  }
  for (const char* text : {"cpu 1 2 3", "cpu  1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8 9", ""}) {
    FakeMachine machine;
    machine.files["/proc/stat"] = text;
    EXPECT_FALSE(machine.probe().read().steal_ticks.ok()) << text;
  }
}

TEST(ContentionProbe, ReadsThisMachine) {
  const SteadyClock clock;
  const ContentionReading reading = ContentionProbe(clock).read();
  EXPECT_GT(reading.process_cpu.count(), 0);
  ASSERT_TRUE(reading.steal_ticks.ok());  // /proc/stat is always there; pressure may not be
  EXPECT_GT(reading.total_ticks, 0);
}

}  // namespace
}  // namespace assay

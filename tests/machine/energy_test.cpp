// SPDX-License-Identifier: Apache-2.0
#include "machine/energy.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/fake_nvml.h"
#include "machine/system_tree.h"

namespace assay {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EnergyTest : public ::testing::Test {
 protected:
  void rapl(const std::string& zone, const std::string& name, int64_t micro,
            int64_t range = 262'143'328'850) {
    const std::string folder = "sys/class/powercap/" + zone;
    tree_.write(folder + "/name", name);
    tree_.write(folder + "/energy_uj", std::to_string(micro));
    tree_.write(folder + "/max_energy_range_uj", std::to_string(range));
  }
  EnergyMeter open(const Nvml* nvml = nullptr) {
    return EnergyMeter::open(tree_.roots(), nvml, clock_);
  }
  static const DomainEnergy& domain(const EnergyReport& report, const std::string& name) {
    for (const DomainEnergy& energy : report.domains) {
      if (energy.domain == name) return energy;
    }
    ADD_FAILURE() << "no domain " << name;
    return report.domains.front();
  }
  SystemTree tree_;
  FakeClock clock_;
};

TEST_F(EnergyTest, AddsPackagesAndTheirMemoryAndNothingTwice) {
  rapl("intel-rapl:0", "package-0", 1'000'000);
  rapl("intel-rapl:0:0", "core", 500'000);
  rapl("intel-rapl:0:1", "dram", 100'000);
  rapl("intel-rapl:1", "package-1", 9'000'000);
  rapl("intel-rapl:2", "psys", 0);
  rapl("intel-rapl-mmio:0", "package-0", 1'000'000);
  tree_.write("sys/class/powercap/intel-rapl/enabled", "1");
  auto meter = open();
  meter.start();
  rapl("intel-rapl:0", "package-0", 11'000'000);
  rapl("intel-rapl:0:0", "core", 5'500'000);
  rapl("intel-rapl:0:1", "dram", 2'100'000);
  rapl("intel-rapl:1", "package-1", 14'000'000);
  rapl("intel-rapl:2", "psys", 50'000'000);
  const EnergyReport report = meter.stop();
  ASSERT_EQ(report.domains.size(), 5U);
  EXPECT_DOUBLE_EQ(*domain(report, "package-0").joules, 10);
  EXPECT_DOUBLE_EQ(*domain(report, "core-0").joules, 5);
  EXPECT_EQ(domain(report, "core-0").kind, EnergyKind::kPart);
  EXPECT_DOUBLE_EQ(*domain(report, "dram-0").joules, 2);
  EXPECT_DOUBLE_EQ(*domain(report, "psys").joules, 50);
  EXPECT_DOUBLE_EQ(*report.total_joules, 10 + 2 + 5);
  EXPECT_THAT(report.total_covers, ElementsAre("package", "dram"));
}

TEST_F(EnergyTest, ACounterThatWrapsGoesOn) {
  rapl("intel-rapl:0", "package-0", 262'000'000'000);
  auto meter = open();
  meter.start();
  rapl("intel-rapl:0", "package-0", 1'000'000'000);
  // 143.32885 J to the end of the range, and 1000 J after it.
  EXPECT_NEAR(*meter.stop().total_joules, 1143.32885, 1e-6);
}

TEST_F(EnergyTest, UpdatesCatchEveryWrapOfALongRun) {
  rapl("intel-rapl:0", "package-0", 0, 100'000'000);
  auto meter = open();
  meter.start();
  for (int i = 1; i <= 10; ++i) {  // 60 J each: six wraps of 100 J in all
    rapl("intel-rapl:0", "package-0", 60'000'000 * i % 100'000'000, 100'000'000);
    meter.update();
  }
  EXPECT_NEAR(*meter.stop().total_joules, 600, 1e-6);
}

TEST_F(EnergyTest, ACounterThatGoesBackWithoutARangeIsNotBelieved) {
  tree_.write("sys/class/hwmon/hwmon0/name", "amd_energy");
  tree_.write("sys/class/hwmon/hwmon0/energy1_label", "Esocket0");
  tree_.write("sys/class/hwmon/hwmon0/energy1_input", "5000000");
  auto meter = open();
  meter.start();
  tree_.write("sys/class/hwmon/hwmon0/energy1_input", "4000000");
  const EnergyReport report = meter.stop();
  EXPECT_THAT(report.total_joules.error().message, HasSubstr("went backwards"));
}

TEST_F(EnergyTest, SocketsOfAmdEnergyArePackages) {
  tree_.write("sys/class/hwmon/hwmon0/name", "amd_energy");
  tree_.write("sys/class/hwmon/hwmon0/energy1_label", "Esocket0");
  tree_.write("sys/class/hwmon/hwmon0/energy1_input", "5000000");
  tree_.write("sys/class/hwmon/hwmon0/energy2_label", "Ecore000");
  tree_.write("sys/class/hwmon/hwmon0/energy2_input", "1000000");
  auto meter = open();
  meter.start();
  tree_.write("sys/class/hwmon/hwmon0/energy1_input", "8000000");
  tree_.write("sys/class/hwmon/hwmon0/energy2_input", "2000000");
  const EnergyReport report = meter.stop();
  EXPECT_DOUBLE_EQ(*report.total_joules, 3);
  EXPECT_DOUBLE_EQ(*domain(report, "hwmon0/energy2 amd_energy Ecore000").joules, 1);
}

TEST_F(EnergyTest, RaplAndAmdEnergyOfTheSamePackageAreNotAdded) {
  rapl("intel-rapl:0", "package-0", 0);
  tree_.write("sys/class/hwmon/hwmon0/name", "amd_energy");
  tree_.write("sys/class/hwmon/hwmon0/energy1_label", "Esocket0");
  tree_.write("sys/class/hwmon/hwmon0/energy1_input", "0");
  auto meter = open();
  meter.start();
  rapl("intel-rapl:0", "package-0", 7'000'000);
  tree_.write("sys/class/hwmon/hwmon0/energy1_input", "7000000");
  EXPECT_DOUBLE_EQ(*meter.stop().total_joules, 7);
}

TEST_F(EnergyTest, PowerSensorsAreIntegratedWhenReadOftenEnough) {
  const std::string sensor = "sys/class/hwmon/hwmon3/";
  tree_.write(sensor + "name", "board");
  tree_.write(sensor + "power1_input", "10000000");  // 10 W
  auto meter = open();
  meter.start();
  clock_.advance(seconds(2));
  tree_.write(sensor + "power1_input", "20000000");
  meter.update();
  clock_.advance(seconds(1));
  const EnergyReport report = meter.stop();
  const DomainEnergy& board = domain(report, "hwmon3/power1 board");
  EXPECT_DOUBLE_EQ(*board.joules, 2 * 15 + 20);
  EXPECT_EQ(board.method, "power integrated from 3 readings");
  EXPECT_THAT(report.total_joules.error().message, HasSubstr("no counter covers a processor"));
}

TEST_F(EnergyTest, APowerSensorReadTooSeldomIsUnavailable) {
  tree_.write("sys/class/hwmon/hwmon3/power1_input", "10000000");
  auto meter = open();
  meter.start();
  clock_.advance(seconds(60));
  const EnergyReport report = meter.stop();
  EXPECT_THAT(report.domains.front().joules.error().message, HasSubstr("too seldom"));
}

TEST_F(EnergyTest, NothingThereIsAReasonNotZero) {
  auto meter = open();
  meter.start();
  const EnergyReport report = meter.stop();
  EXPECT_TRUE(report.domains.empty());
  ASSERT_FALSE(report.total_joules.ok());
  EXPECT_THAT(report.total_joules.error().message, HasSubstr("powercap"));
}

TEST_F(EnergyTest, AFileThatVanishesOrHoldsNonsenseIsAReason) {
  rapl("intel-rapl:0", "package-0", 0);
  rapl("intel-rapl:1", "package-1", 0);
  auto meter = open();
  meter.start();
  tree_.remove("sys/class/powercap/intel-rapl:0/energy_uj");
  tree_.write("sys/class/powercap/intel-rapl:1/energy_uj", "lots");
  const EnergyReport report = meter.stop();
  EXPECT_THAT(domain(report, "package-0").joules.error().message, HasSubstr("is absent"));
  EXPECT_THAT(domain(report, "package-1").joules.error().message, HasSubstr("not a number"));
  EXPECT_THAT(report.total_joules.error().message, HasSubstr("package-0"));
}

TEST_F(EnergyTest, GpusAreAddedToPackages) {
  FakeDriver driver;
  driver.gpus = 2;
  const auto nvml = Nvml::start(fake_nvml(driver));
  ASSERT_TRUE(nvml.ok());
  rapl("intel-rapl:0", "package-0", 0);
  auto meter = open(&*nvml);
  driver.energy_mj = {1000, 2000};
  meter.start();
  driver.energy_mj = {6000, 4500};
  rapl("intel-rapl:0", "package-0", 1'000'000);
  const EnergyReport report = meter.stop();
  EXPECT_DOUBLE_EQ(*domain(report, "gpu-1").joules, 2.5);
  EXPECT_DOUBLE_EQ(*report.total_joules, 1 + 5 + 2.5);
  EXPECT_THAT(report.total_covers, ElementsAre("package", "gpu"));
}

TEST_F(EnergyTest, AMeterThatWasNotStartedSaysSo) {
  rapl("intel-rapl:0", "package-0", 0);
  auto meter = open();
  EXPECT_THAT(meter.stop().total_joules.error().message, HasSubstr("not started"));
}

TEST_F(EnergyTest, StartsAgainFromZero) {
  rapl("intel-rapl:0", "package-0", 0);
  auto meter = open();
  meter.start();
  rapl("intel-rapl:0", "package-0", 5'000'000);
  EXPECT_DOUBLE_EQ(*meter.stop().total_joules, 5);
  meter.start();
  rapl("intel-rapl:0", "package-0", 6'000'000);
  EXPECT_DOUBLE_EQ(*meter.stop().total_joules, 1);
}

}  // namespace
}  // namespace assay

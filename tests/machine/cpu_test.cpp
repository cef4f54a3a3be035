// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.h"

#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/system_tree.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kXeon =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"
    "model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 2\nmicrocode\t: 0x21000230\n"
    "cpu MHz\t\t: 2100.000\nflags\t\t: fpu sse4_2 smep fma avx2 hypervisor avx512f amx_bf16 "
    "avx512_bf16\n"
    "\nprocessor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: another\ncpu MHz\t\t: 2300.000\n";

TEST(CpuInfo, ReadsTheFirstProcessor) {
  const CpuModel cpu = parse_cpuinfo(kXeon);
  EXPECT_EQ(*cpu.model, "Intel(R) Xeon(R) Processor");
  EXPECT_EQ(*cpu.vendor, "GenuineIntel");
  EXPECT_EQ(*cpu.family, 6);
  EXPECT_EQ(*cpu.model_number, 207);
  EXPECT_EQ(*cpu.stepping, 2);
  EXPECT_EQ(*cpu.microcode, "0x21000230");
  EXPECT_TRUE(cpu.hypervisor);
  EXPECT_THAT(cpu.isa, ElementsAre("amx_bf16", "avx2", "avx512_bf16", "avx512f", "fma", "sse4_2"));
}

TEST(CpuInfo, ReadsArmsForm) {
  const CpuModel cpu = parse_cpuinfo(
      "processor : 0\nFeatures : fp asimd sve i8mm bf16 crc32\nCPU implementer : 0x41\n"
      "CPU part : 0xd40\n");
  EXPECT_EQ(*cpu.model, "0xd40");
  EXPECT_EQ(*cpu.vendor, "0x41");
  EXPECT_FALSE(cpu.microcode.ok());
  EXPECT_THAT(cpu.isa, ElementsAre("asimd", "bf16", "i8mm", "sve"));
}

TEST(CpuInfo, MissingFieldsHaveAReason) {
  const CpuModel cpu = parse_cpuinfo("");
  EXPECT_THAT(cpu.model.error().message, HasSubstr("model name"));
  EXPECT_FALSE(cpu.family.ok());
  EXPECT_TRUE(cpu.isa.empty());
}

TEST(Frequency, AVirtualMachineWithoutCpufreqHasReasonsNotZeros) {
  const SystemTree tree;
  tree.write("sys/devices/system/cpu/cpu0/online", "1");
  EXPECT_THAT(frequency_governor(tree.roots()).error().message, HasSubstr("cpufreq"));
  EXPECT_FALSE(frequency_range(tree.roots()).ok());
  EXPECT_FALSE(frequency_now_hz(tree.roots()).ok());
  EXPECT_FALSE(turbo_enabled(tree.roots()).ok());
}

TEST(Frequency, HybridMachinesSpanTheirCores) {
  const SystemTree tree;
  const std::string cpus = "sys/devices/system/cpu/";
  for (const auto& [cpu, governor, low, high, now] :
       {std::tuple{"cpu0", "performance", "800000", "5000000", "4000000"},
        std::tuple{"cpu1", "performance", "800000", "5000000", "5000000"},
        std::tuple{"cpu10", "powersave", "400000", "3600000", "3000000"}}) {
    tree.write(cpus + cpu + "/cpufreq/scaling_governor", governor);
    tree.write(cpus + cpu + "/cpufreq/scaling_driver", "intel_pstate");
    tree.write(cpus + cpu + "/cpufreq/cpuinfo_min_freq", low);
    tree.write(cpus + cpu + "/cpufreq/cpuinfo_max_freq", high);
    tree.write(cpus + cpu + "/cpufreq/scaling_cur_freq", now);
  }
  tree.write(cpus + "cpufreq/policy0/scaling_governor", "not a processor's");
  EXPECT_EQ(*frequency_governor(tree.roots()), "mixed: performance 2, powersave 1");
  EXPECT_EQ(*frequency_driver(tree.roots()), "intel_pstate");
  EXPECT_EQ(frequency_range(tree.roots())->min_hz, 400'000'000);
  EXPECT_EQ(frequency_range(tree.roots())->max_hz, 5'000'000'000);
  EXPECT_EQ(*frequency_now_hz(tree.roots()), 4'000'000'000);
}

TEST(Frequency, FallsBackToCpuinfo) {
  const SystemTree tree;
  tree.write("proc/cpuinfo", kXeon);
  EXPECT_EQ(*frequency_now_hz(tree.roots()), 2'200'000'000);
}

TEST(Frequency, TurboIsReadFromEitherDriver) {
  const SystemTree tree;
  tree.write("sys/devices/system/cpu/cpufreq/boost", "0");
  EXPECT_FALSE(*turbo_enabled(tree.roots()));
  tree.write("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  EXPECT_TRUE(*turbo_enabled(tree.roots()));
}

TEST(Hypervisor, BareMetalHasNone) {
  const SystemTree tree;
  EXPECT_EQ(*hypervisor_name(tree.roots(), false), "none");
  tree.write("sys/hypervisor/type", "xen");
  EXPECT_EQ(*hypervisor_name(tree.roots(), false), "Xen");
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "machine/environment.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "machine/fake_nvml.h"
#include "machine/software.h"
#include "machine/system_tree.h"
#include "machine/version.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

EnvironmentSources sources_of(const SystemTree& tree) {
  EnvironmentSources sources;
  sources.roots = tree.roots();
  sources.synthetic_topology = "pack:1 core:2 pu:1";
  sources.nvml = []() -> Result<NvmlFunctions> {
    return Error{ErrorCode::kNotFound, "no NVIDIA driver"};
  };
  return sources;
}

// In the object and in every object inside it.
void expect_reasons(const Json& object) {
  const Json missing = object.value("missing", Json::object());
  for (const auto& [field, value] : object.items()) {
    EXPECT_EQ(value.is_null(), missing.contains(field)) << field;
    if (value.is_object() && field != "missing") expect_reasons(value);
    if (!value.is_array()) continue;
    for (const Json& element : value) {
      if (element.is_object()) expect_reasons(element);
    }
  }
  for (const auto& [field, reason] : missing.items()) {
    EXPECT_TRUE(object.contains(field)) << field;
    EXPECT_FALSE(reason.get<std::string>().empty()) << field;
  }
}

TEST(Environment, EveryNullHasAReasonAndEveryReasonANull) {
  expect_reasons(collect_environment());
  const SystemTree empty;
  expect_reasons(collect_environment(sources_of(empty)));
}

TEST(Environment, DescribesThisMachine) {
  const Json environment = collect_environment();
  EXPECT_GE(environment["hardware_threads"].get<int>(), 1);
  EXPECT_GT(environment["memory_bytes"].get<int64_t>(), int64_t{1} << 28);
  EXPECT_FALSE(environment["kernel"].get<std::string>().empty());
  EXPECT_THAT(environment["libc"].get<std::string>(), HasSubstr("libc"));
  EXPECT_GE(environment["threads_allowed"].get<int>(), 1);
  EXPECT_EQ(environment["build"]["version"], std::string(build_info().version));
}

TEST(Environment, ReadsWhatTheKernelSays) {
  const SystemTree tree;
  tree.write("proc/cpuinfo", "model name : Some CPU\nflags : avx2 fma fpu");
  tree.write("proc/meminfo",
             "MemTotal: 1024 kB\nHugePages_Total:  3\nHugepagesize: 2048 kB\nSwapTotal: 0 kB");
  tree.write("proc/loadavg", "1.25 0.5 0.4 1/234 5678");
  tree.write("proc/sys/kernel/randomize_va_space", "2");
  tree.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  tree.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  tree.write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"");
  tree.write(".dockerenv", "");
  const Json environment = collect_environment(sources_of(tree));
  EXPECT_EQ(environment["cpu_model"], "Some CPU");
  EXPECT_EQ(environment["isa"], Json({"avx2", "fma"}));
  EXPECT_EQ(environment["virtualised"], false);
  EXPECT_EQ(environment["hypervisor"], "none");
  EXPECT_EQ(environment["cores"], 2);
  EXPECT_EQ(environment["memory_bytes"], 1024 * 1024);
  EXPECT_EQ(environment["swap_bytes"], 0);  // known to be none
  EXPECT_EQ(environment["hugepages"], 3);
  EXPECT_EQ(environment["transparent_hugepages"], "madvise");
  EXPECT_EQ(environment["aslr"], "full");
  EXPECT_EQ(environment["governor"], "performance");
  EXPECT_EQ(environment["distribution"], "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(environment["container"], "docker");
  EXPECT_EQ(environment["now"]["load_1min"], 1.25);
  EXPECT_TRUE(environment["microcode"].is_null());
  EXPECT_TRUE(environment["gpus"].is_null());
  EXPECT_EQ(environment["missing"]["gpus"], "no NVIDIA driver");
}

TEST(Environment, ListsGpusWithReasonsForWhatTheyDoNotSay) {
  const SystemTree tree;
  FakeDriver driver;
  driver.gpus = 2;
  EnvironmentSources sources = sources_of(tree);
  sources.nvml = [&]() -> Result<NvmlFunctions> { return fake_nvml(driver); };
  const Json environment = collect_environment(sources);
  ASSERT_EQ(environment["gpus"].size(), 2U);
  const Json& gpu = environment["gpus"][1];
  EXPECT_EQ(gpu["device"], "cuda:1");
  EXPECT_EQ(gpu["name"], "Test GPU");
  EXPECT_EQ(gpu["memory_bytes"], int64_t{1} << 34);
  EXPECT_EQ(gpu["compute_capability"], "9.0");
  EXPECT_EQ(gpu["clock_max_hz"], 1'980'000'000);
  EXPECT_EQ(gpu["power_limit_watts"], 700.5);
  EXPECT_EQ(gpu["pci_bus_id"], "00000000:1B:00.0");
  EXPECT_TRUE(gpu["ecc"].is_null());
  EXPECT_EQ(gpu["missing"]["ecc"], "NVML: Not Supported");
  EXPECT_EQ(gpu["missing"]["mig"], "the driver is too old to say");
  EXPECT_EQ(environment["gpu_driver"], "580.65");
  EXPECT_EQ(environment["gpu_driver_cuda"], "13.2");
  EXPECT_EQ(driver.sessions, 0);  // shut down again
}

TEST(EnvironmentId, IgnoresTheMomentAndTheBuildOnly) {
  const SystemTree tree;
  const Json environment = collect_environment(sources_of(tree));
  const std::string id = environment_id(environment);
  EXPECT_EQ(id.size(), 16U);
  Json later = environment;
  later["now"]["load_1min"] = 7.5;
  later["build"]["commit"] = "another";
  EXPECT_EQ(environment_id(later), id);
  later["governor"] = "powersave";
  EXPECT_NE(environment_id(later), id);
}

TEST(Nvml, SaysWhyThereAreNoGpus) {
  EXPECT_THAT(load_nvml("libno-such-library.so.9").error().message, HasSubstr("no NVIDIA driver"));
  FakeDriver driver;
  driver.gpus = 0;
  EXPECT_EQ(Nvml::start(fake_nvml(driver)).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(driver.sessions, 0);
  driver.init_status = 9;
  EXPECT_THAT(Nvml::start(fake_nvml(driver)).error().message, HasSubstr("Driver Not Loaded"));
  EXPECT_EQ(driver.sessions, 0);
  EXPECT_THAT(Nvml::start(NvmlFunctions{}).error().message, HasSubstr("too old"));
}

TEST(Container, IsRecognisedByItsMarks) {
  const SystemTree tree;
  EXPECT_EQ(container(tree.roots()), "none");
  tree.write("proc/self/cgroup", "0::/kubepods/besteffort/pod1");
  EXPECT_EQ(container(tree.roots()), "kubernetes");
  tree.write("run/systemd/container", "systemd-nspawn");
  EXPECT_EQ(container(tree.roots()), "systemd-nspawn");
  tree.write("run/.containerenv", "");
  EXPECT_EQ(container(tree.roots()), "podman");
}

TEST(NumericalVariables, AreThoseOfLibrariesAndNoOthers) {
  const char* const environment[] = {
      "OMP_NUM_THREADS=4", "MKL_DEBUG=a=b",     "HOME=/root", "SECRET_TOKEN=x",
      "OMP_EMPTY=",        "LD_PRELOAD=lib.so", "broken",     nullptr};
  EXPECT_THAT(numerical_variables(environment),
              UnorderedElementsAre(Pair("OMP_NUM_THREADS", "4"), Pair("MKL_DEBUG", "a=b"),
                                   Pair("OMP_EMPTY", ""), Pair("LD_PRELOAD", "lib.so")));
}

TEST(CodeVersion, BeginsWithTheVersion) {
  EXPECT_THAT(code_version(), StartsWith(std::string(build_info().version)));
  EXPECT_FALSE(build_info().compiler.empty());
}

}  // namespace
}  // namespace assay

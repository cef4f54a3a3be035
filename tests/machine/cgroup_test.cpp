// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/memory.h"
#include "machine/system_tree.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(Cgroup, VersionTwoTakesTheTightestLimitOnTheWayUp) {
  const SystemTree tree;
  tree.write("proc/self/cgroup", "0::/user.slice/job");
  tree.write("sys/fs/cgroup/user.slice/job/cgroup.controllers", "cpu memory pids");
  tree.write("sys/fs/cgroup/user.slice/job/memory.max", "max");
  tree.write("sys/fs/cgroup/user.slice/memory.max", "2147483648");
  tree.write("sys/fs/cgroup/user.slice/job/cpu.max", "350000 100000");
  tree.write("sys/fs/cgroup/user.slice/cpu.max", "max 100000");
  EXPECT_EQ(*cgroup_memory_limit_bytes(tree.roots()), 2147483648);
  EXPECT_DOUBLE_EQ(*cgroup_cpu_limit(tree.roots()), 3.5);
}

TEST(Cgroup, VersionOneIsReadThroughItsControllers) {
  const SystemTree tree;
  tree.write("proc/self/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n0::/");
  tree.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  tree.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
  tree.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(*cgroup_memory_limit_bytes(tree.roots()), 1048576);
  EXPECT_EQ(cgroup_cpu_limit(tree.roots()).error().message, "no limit");
}

TEST(Cgroup, InAContainerThePathOfTheHostIsNotVisible) {
  const SystemTree tree;
  tree.write("proc/self/cgroup", "0::/../../host/path");
  tree.write("sys/fs/cgroup/cgroup.controllers", "memory");
  tree.write("sys/fs/cgroup/memory.max", "4096");
  EXPECT_EQ(*cgroup_memory_limit_bytes(tree.roots()), 4096);
}

TEST(Cgroup, SaysThatNothingLimitsOrNothingIsKnown) {
  const SystemTree tree;
  EXPECT_THAT(cgroup_memory_limit_bytes(tree.roots()).error().message, HasSubstr("is absent"));
  tree.write("proc/self/cgroup", "0::/");
  EXPECT_THAT(cgroup_memory_limit_bytes(tree.roots()).error().message,
              HasSubstr("memory controller"));
}

TEST(UsableMemory, IsTheMachinesOrTheLimit) {
  const SystemTree tree;
  tree.write("proc/meminfo", "MemTotal:       2000 kB\nMemAvailable:    1500 kB");
  EXPECT_EQ(usable_memory(tree.roots())->count, 2000 * 1024);
  EXPECT_EQ(available_memory(tree.roots())->count, 1500 * 1024);
  tree.write("proc/self/cgroup", "0::/");
  tree.write("sys/fs/cgroup/cgroup.controllers", "memory");
  tree.write("sys/fs/cgroup/memory.max", "4096");
  EXPECT_EQ(usable_memory(tree.roots())->count, 4096);
  tree.write("proc/meminfo", "MemTotal:       many");
  EXPECT_FALSE(usable_memory(tree.roots()).ok());
}

}  // namespace
}  // namespace assay

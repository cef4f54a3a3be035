// SPDX-License-Identifier: Apache-2.0
#include "machine/memory.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "machine/memory_group.h"
#include "machine/system_tree.h"
#include "machine/version.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(ResidentMemory, OfThisProcessIsBelowItsPeak) {
  const auto now = resident_memory();
  const auto peak = peak_resident_memory();
  ASSERT_TRUE(now.ok() && peak.ok());
  EXPECT_GT(now->count, 1 << 20);
  EXPECT_GE(peak->count, now->count);
  EXPECT_TRUE(resident_memory(::getpid()).ok());
}

TEST(ResidentMemory, ThePeakRemembersWhatWasFreed) {
  const int64_t before = resident_memory()->count;
  {
    const std::vector<char> block(64 << 20, 1);
    EXPECT_EQ(block.back(), 1);
  }
  EXPECT_GE(peak_resident_memory()->count, before + (60 << 20));
  // AddressSanitizer keeps freed blocks.
  if (!build_info().sanitizers.empty()) GTEST_SKIP() << "built with a sanitizer";
  if (!reset_peak_resident_memory().ok()) GTEST_SKIP() << "the kernel refuses to reset the peak";
  EXPECT_LT(peak_resident_memory()->count, before + (60 << 20));
}

TEST(ResidentMemory, OfAProcessThatIsGoneIsAnError) {
  const SystemTree tree;
  const auto gone = resident_memory(12345, tree.roots());
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error().message, HasSubstr("12345/status is absent"));
}

TEST(MemoryGroup, SaysWhyThereIsNone) {
  const SystemTree tree;
  EXPECT_EQ(MemoryGroup::create(Bytes{1 << 20}, tree.roots()).error().code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(MemoryGroup::create(Bytes{0}, tree.roots()).error().code, ErrorCode::kInvalid);
  // A tree of plain files: no kernel makes memory.max appear in the new folder.
  tree.write("proc/self/cgroup", "0::/job");
  tree.write("sys/fs/cgroup/job/cgroup.controllers", "memory");
  const auto group = MemoryGroup::create(Bytes{1 << 20}, tree.roots());
  ASSERT_FALSE(group.ok());
  for (const auto& entry : std::filesystem::directory_iterator(tree.path() / "sys/fs/cgroup/job")) {
    EXPECT_FALSE(entry.is_directory()) << "left behind: " << entry.path();
  }
}

TEST(MemoryGroup, EndsAProcessThatExceedsItsLimit) {
  auto group = MemoryGroup::create(Bytes{32 << 20});
  if (!group.ok()) GTEST_SKIP() << group.error().text();
  int start[2];
  ASSERT_EQ(::pipe(start), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char go = 0;
    if (::read(start[0], &go, 1) != 1) ::_exit(2);
    // Written page by page: only touched memory counts.
    auto* block = static_cast<volatile char*>(std::malloc(256 << 20));
    for (size_t i = 0; i < (256U << 20); i += 4096) block[i] = 1;
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  const auto added = group->add(child);
  EXPECT_TRUE(added.ok()) << added.error().text();
  EXPECT_EQ(::write(start[1], "g", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(start[0]);
  ::close(start[1]);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  const auto kills = group->kills();
  EXPECT_TRUE(!kills.ok() || *kills >= 1);
  const std::filesystem::path folder = group->folder();
  { const MemoryGroup last = std::move(group).value(); }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/scratch_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(WriteFile, WritesWhatReadFileReads) {
  const ScratchFolder folder;
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(write_file(folder / "x", content).ok());
  EXPECT_EQ(*read_file(folder / "x"), content);
  ASSERT_TRUE(write_file(folder / "x", "").ok());
  EXPECT_EQ(*read_file(folder / "x"), "");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteFile, KeepsTheModeOfTheFileItReplaces) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "x", "1").ok());
  ASSERT_EQ(::chmod((folder / "x").c_str(), 0640), 0);
  ASSERT_TRUE(write_file(folder / "x", "2").ok());
  EXPECT_EQ(fs::status(folder / "x").permissions(), fs::perms(0640));
}

TEST(WriteFile, ReplacesTheTargetOfALinkAndLeavesTheLink) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "target", "old").ok());
  fs::create_symlink("target", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(*read_file(folder / "target"), "new");
}

// A file-size limit fails in the middle of the writing, as a full disk does.
TEST(WriteFile, LeavesTheOldFileAndNothingElseWhenTheDiskIsFull) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "x", "old").ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto result = write_file(folder / "x", std::string(100000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
  EXPECT_EQ(*read_file(folder / "x"), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteFile, ReportsAFullDevice) {
  const auto result = write_file("/dev/full", "x");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().text(), "cannot write: No space left on device (/dev/full)");
}

TEST(WriteFile, NamesTheFileItCannotWrite) {
  const ScratchFolder folder;
  EXPECT_EQ(write_file(folder / "no/such/file", "x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(write_file(folder.path(), "x").error().place, folder.path());
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(ReadFile, TellsMissingFromUnreadable) {
  const ScratchFolder folder;
  EXPECT_EQ(read_file(folder / "absent").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_file(folder.path()).error().code, ErrorCode::kIo);
}

TEST(ReadFile, RefusesMoreThanTheLimit) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "x", "12345").ok());
  EXPECT_EQ(*read_file(folder / "x", {5}), "12345");
  EXPECT_THAT(read_file(folder / "x", {4}).error().message, HasSubstr("larger than 4 B"));
  EXPECT_FALSE(read_file("/dev/zero", {100000}).ok());
}

TEST(ReadFile, ReadsFilesThatDoNotKnowTheirSize) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(*status, HasSubstr("VmRSS"));
}

TEST(MappedFile, ShowsTheBytesAndMoves) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "x", "abc").ok());
  auto opened = MappedFile::open(folder / "x");
  ASSERT_TRUE(opened.ok());
  const MappedFile mapped = std::move(opened).value();
  ASSERT_EQ(mapped.bytes().size(), 3U);
  EXPECT_EQ(mapped.bytes()[2], std::byte{'c'});
  ASSERT_TRUE(write_file(folder / "empty", "").ok());
  EXPECT_TRUE(MappedFile::open(folder / "empty")->bytes().empty());
  EXPECT_FALSE(MappedFile::open(folder.path()).ok());
  EXPECT_EQ(MappedFile::open(folder / "absent").error().code, ErrorCode::kNotFound);
}

// Sets a variable for one scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(AssayHome, IsTheVariableOrTheCacheOfTheUser) {
  const Environment home("HOME", "/home/someone");
  {
    const Environment variable("ASSAY_HOME", "/data/assay");
    EXPECT_EQ(assay_home(), "/data/assay");
  }
  const Environment variable("ASSAY_HOME", nullptr);
  EXPECT_EQ(assay_home(), "/home/someone/.cache/assay");
  const Environment no_home("HOME", nullptr);
  EXPECT_TRUE(assay_home().is_absolute());
}

TEST(ShareFolder, IsTheVariableOrTheTreeTheProgramWasBuiltIn) {
  {
    const Environment variable("ASSAY_SHARE", "/data/share");
    EXPECT_EQ(share_folder(), "/data/share");
  }
  const Environment variable("ASSAY_SHARE", nullptr);
  EXPECT_TRUE(share_folder().is_absolute());
  EXPECT_TRUE(fs::exists(executable_folder()));
}

}  // namespace
}  // namespace assay

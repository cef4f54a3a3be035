// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace assay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr Nanoseconds kLong = seconds(60);  // never reached unless something is broken

ChildProcess shell(const std::string& script) {
  auto child = ChildProcess::start({{"sh", "-c", script}, {}, ""});
  EXPECT_TRUE(child.ok());
  return std::move(child).value();
}

std::string next_line(ChildProcess& child) {
  auto line = child.read_line(kLong);
  EXPECT_TRUE(line.ok());
  EXPECT_TRUE(line.ok() && line->has_value());
  return line.ok() && *line ? **line : "";
}

bool alive(int64_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  // Killed but not yet reaped counts as dead.
  return stat.ok() && stat->find(") Z ") == std::string::npos;
}

bool dies(int64_t pid) {
  const SteadyClock clock;
  for (int i = 0; i < 6000 && alive(pid); ++i) clock.sleep(milliseconds(10));
  return !alive(pid);
}

TEST(ChildProcess, TalksLineByLine) {
  ChildProcess child = shell("while read line; do echo \"got $line\"; done; printf end");
  ASSERT_TRUE(child.write_line("one").ok());
  EXPECT_EQ(next_line(child), "got one");
  ASSERT_TRUE(child.write_line("two").ok());
  EXPECT_EQ(next_line(child), "got two");
  child.close_stdin();
  EXPECT_EQ(next_line(child), "end");  // a last line without newline is a line
  EXPECT_EQ(*child.read_line(kLong), std::nullopt);
  EXPECT_TRUE(child.wait(kLong)->success());
  EXPECT_TRUE(child.wait(kLong)->success());
  EXPECT_EQ(child.resident().count, 0);
}

TEST(ChildProcess, PassesLargeLinesBothWays) {
  ChildProcess child = shell("cat");
  const std::string large(50'000, 'x');  // fits the pipe, so that nobody waits for the other
  ASSERT_TRUE(child.write_line(large).ok());
  EXPECT_EQ(next_line(child), large);
}

TEST(ChildProcess, ReportsHowItEnded) {
  EXPECT_EQ(shell("exit 3").wait(kLong)->text(), "exit code 3");
  EXPECT_EQ(shell("kill -9 $$").wait(kLong)->text(), "signal 9 (Killed)");
  EXPECT_EQ(shell("kill -SEGV $$").wait(std::nullopt)->text(), "signal 11 (Segmentation fault)");
}

TEST(ChildProcess, TimesOutWhileTheChildIsSilent) {
  ChildProcess child = shell("sleep 1000");
  EXPECT_EQ(child.read_line(milliseconds(20)).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(child.wait(milliseconds(20)).error().code, ErrorCode::kTimeout);
  EXPECT_GT(child.resident().count, 0);
  child.kill_group(SIGTERM);
  EXPECT_EQ(child.wait(kLong)->signal, SIGTERM);
}

TEST(ChildProcess, StopsWaitingWhenTheWakeDescriptorIsReadable) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ChildProcess child = shell("sleep 1000");
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(child.read_line(kLong, ends[0]).error().code, ErrorCode::kCancelled);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ChildProcess, KeepsTheEndOfStderrAndNeverBlocksTheChild) {
  // Ten times what a pipe holds, unread by us.
  ChildProcess child = shell(
      "i=0; while [ $i -lt 10000 ]; do echo 'noise noise noise noise noise noise noise' >&2; "
      "i=$((i+1)); done; echo 'last words' >&2");
  EXPECT_TRUE(child.wait(kLong)->success());
  const std::string tail = child.stderr_tail();
  EXPECT_EQ(tail.size(), 8192U);
  EXPECT_THAT(tail, EndsWith("last words\n"));
}

TEST(ChildProcess, SurvivesAChildThatDoesNotReadItsInput) {
  ChildProcess child = shell("exec 0<&-; echo closed; sleep 1000");
  EXPECT_EQ(next_line(child), "closed");
  const auto written = child.write_line("hello?");  // SIGPIPE would end this test program
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::kCrashed);
  child.close_stdin();
  EXPECT_EQ(child.write_line("hello?").error().code, ErrorCode::kCrashed);
}

TEST(ChildProcess, KillsItsWholeGroupWhenItGoesOutOfScope) {
  int64_t grandchild = 0;
  pid_t pid = 0;
  {
    ChildProcess child = shell("sleep 1000 & echo $!; wait");
    grandchild = *parse_int(next_line(child));
    pid = child.pid();
    EXPECT_TRUE(alive(grandchild));
  }
  EXPECT_FALSE(alive(pid));
  EXPECT_TRUE(dies(grandchild));
}

TEST(ChildProcess, KillsWhatAnEndedChildLeftInItsGroup) {
  int64_t grandchild = 0;
  {
    ChildProcess child = shell("sleep 1000 >/dev/null & echo $!");
    grandchild = *parse_int(next_line(child));
    EXPECT_TRUE(child.wait(kLong)->success());
  }
  EXPECT_TRUE(dies(grandchild));
}

TEST(ChildProcess, StartsInItsOwnGroupWithCleanSignalsAndDescriptors) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  constexpr int kLeak = 100;
  ASSERT_EQ(::dup2(STDERR_FILENO, kLeak), kLeak);  // without O_CLOEXEC, as some libraries do
  ChildProcess child =
      shell("cut -d' ' -f5 /proc/$$/stat; [ -e /proc/$$/fd/100 ] && echo leaked || echo clean");
  EXPECT_EQ(*parse_int(next_line(child)), child.pid());
  EXPECT_EQ(next_line(child), "clean");
  EXPECT_THAT(*run_process({{"grep", "SigBlk", "/proc/self/status"}, {}, ""}, kLong),
              EndsWith("\t0000000000000000\n"));
  ::close(kLeak);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(ChildProcess, GetsTheEnvironmentAndFolderItWasGiven) {
  const ScratchFolder folder;
  auto child = ChildProcess::start({{"sh", "-c", "echo \"$ASSAY_TEST_VARIABLE $HOME\"; pwd -P"},
                                    {{"ASSAY_TEST_VARIABLE", "a value"}, {"HOME", "replaced"}},
                                    folder.path().string()});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(next_line(*child), "a value replaced");
  EXPECT_EQ(next_line(*child), std::filesystem::canonical(folder.path()));
}

TEST(ChildProcess, SaysWhichProgramIsMissing) {
  const auto missing = ChildProcess::start({{"no-such-program-here"}, {}, ""});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("'no-such-program-here'"));
  EXPECT_FALSE(ChildProcess::start({{"true"}, {}, "/no/such/folder"}).ok());
  EXPECT_EQ(ChildProcess::start({{"/dev/null"}, {}, ""}).error().code, ErrorCode::kIo);
}

// A parent is forked, makes a child that asks to die with it, and is killed with SIGKILL.
TEST(DieWithParent, EndsTheChildOfAKilledParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      die_with_parent();
      const pid_t self = ::getpid();
      if (::write(ends[1], &self, sizeof(self)) != sizeof(self)) ::_exit(1);
    }
    while (true) ::pause();
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  EXPECT_TRUE(alive(child));
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(dies(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(DieWithParent, ExitsAtOnceWhenTheParentIsGoneAlready) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("ASSAY_PARENT_PID", std::to_string(gone).c_str(), 1);
    die_with_parent();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(DieWithParent, LetsAChildOfALivingLauncherBe) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("ASSAY_PARENT_PID", "1", 1);  // alive, and not our parent
    die_with_parent();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(RunProcess, ReturnsTheWholeOutput) {
  EXPECT_EQ(*run_process({{"printf", "a\\nb\\n"}, {}, ""}, kLong), "a\nb\n");
  EXPECT_EQ(*run_process({{"cat"}, {}, ""}, kLong), "");  // stdin is empty
}

TEST(RunProcess, ReportsFailureWithTheWordsOfTheProgram) {
  const auto result = run_process({{"sh", "-c", "echo oops >&2; exit 4"}, {}, ""}, kLong);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kCrashed);
  EXPECT_EQ(result.error().text(), "exit code 4: oops (sh)");
}

TEST(RunProcess, EndsWhatTakesTooLongOrWritesTooMuch) {
  EXPECT_EQ(run_process({{"sleep", "1000"}, {}, ""}, milliseconds(30)).error().code,
            ErrorCode::kTimeout);
  EXPECT_EQ(run_process({{"yes"}, {}, ""}, kLong).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace assay

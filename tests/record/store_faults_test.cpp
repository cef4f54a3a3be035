// SPDX-License-Identifier: Apache-2.0
//
// What a store must survive: being killed, a full disk, and other writers.
#include <unistd.h>

#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record/sample_records.h"
#include "record/store_fixture.h"

namespace assay {
namespace {

using testing::HasSubstr;

using StoreFaults = StoreFixture;

Record heavy_record(int number) {
  Record record = sample_records::trained();
  record.add("number", number);
  record.samples[0].values.clear();
  double value = 1;
  for (int i = 0; i < 4000; ++i) {
    value = value * 1.37 + number;  // does not compress
    if (value > 1e100) value = 1.0 / (1 + i);
    record.samples[0].values.push_back(value);
  }
  return record;
}

// Runs `body` in a child process, which never returns to the test.
template <class Body>
pid_t start_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  return child;
}

TEST_F(StoreFaults, KillingAWriterLosesNothingItHadFinished) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = start_child([&] {
    auto store = Store::open(path());
    if (!store.ok()) _exit(1);
    for (int number = 0;; ++number) {
      if (!store->append(heavy_record(number)).ok()) _exit(2);
      if (write(ends[1], &number, sizeof(number)) != sizeof(number)) _exit(3);
    }
  });
  close(ends[1]);
  int finished = -1;
  int number = 0;
  while (finished < 20 && read(ends[0], &number, sizeof(number)) == sizeof(number)) {
    finished = number;
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  while (read(ends[0], &number, sizeof(number)) == sizeof(number)) finished = number;
  close(ends[0]);

  const Store store = open();
  const auto records = store.query({});
  ASSERT_TRUE(records.ok()) << records.error().text();
  ASSERT_GE(records->size(), static_cast<size_t>(finished) + 1);
  for (size_t i = 0; i < records->size(); ++i) {
    Record expected = heavy_record(static_cast<int>(i));
    expected.id = (*records)[i].id;
    sample_records::expect_equal((*records)[i], expected);
  }
}

// Appends until the first refusal; what was accepted must be there, and the store must work again
// once there is room.
void fill(const std::filesystem::path& path) {
  auto store = Store::open(path);
  ASSERT_TRUE(store.ok()) << store.error().text();
  size_t accepted = 0;
  std::optional<Error> refusal;
  while (!refusal && accepted < 1000) {
    const auto id = store->append(heavy_record(static_cast<int>(accepted)));
    if (id.ok()) {
      ++accepted;
    } else {
      refusal = id.error();
    }
  }
  ASSERT_TRUE(refusal.has_value()) << "the disk never filled";
  EXPECT_EQ(refusal->code, ErrorCode::kIo) << refusal->text();
  EXPECT_GT(accepted, 0U);
  const auto records = store->query({});
  ASSERT_TRUE(records.ok()) << records.error().text();
  EXPECT_EQ(records->size(), accepted);
}

TEST_F(StoreFaults, AFileThatMayNotGrowIsAnErrorAndNothingIsLost) {
  open();
  const pid_t child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{512 * 1024, 512 * 1024};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(9);
    fill(path());
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  Store store = open();  // without the limit there is room again
  const size_t kept = store.query({})->size();
  EXPECT_GT(kept, 0U);
  ASSERT_TRUE(store.append(heavy_record(0)).ok());
  EXPECT_EQ(store.query({})->size(), kept + 1);
}

TEST_F(StoreFaults, AFullDiskIsAnErrorAndNothingIsLost) {
  if (mount("assay-test", folder().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  }
  fill(path());
  EXPECT_EQ(umount2(folder().c_str(), MNT_DETACH), 0);
}

TEST_F(StoreFaults, TwoProcessesMayCreateAndWriteAtOnce) {
  constexpr int kEach = 15;
  std::array<pid_t, 2> children{};
  for (pid_t& child : children) {
    child = start_child([&] {
      auto store = Store::open(path());
      if (!store.ok()) _exit(1);
      for (int i = 0; i < kEach; ++i) {
        if (!store->append(heavy_record(i)).ok()) _exit(2);
      }
    });
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(open().query({})->size(), 2U * kEach);
}

TEST_F(StoreFaults, AReaderSeesFinishedRecordsWhileAWriterIsOpen) {
  Store writer = open();
  ASSERT_TRUE(writer.append(sample_records::trained()).ok());
  const auto reader = Store::open_read_only(path());
  ASSERT_TRUE(reader.ok()) << reader.error().text();
  EXPECT_EQ(reader->query({})->size(), 1U);
  ASSERT_TRUE(writer.append(sample_records::inferred()).ok());
  EXPECT_EQ(reader->query({})->size(), 2U);
}

TEST_F(StoreFaults, AReadOnlyFileSystemCanStillBeRead) {
  ASSERT_TRUE(open().append(sample_records::trained()).ok());
  const auto c = folder().c_str();
  if (mount(c, c, nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "mounting is not permitted here";
  }
  ASSERT_EQ(mount(nullptr, c, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr), 0);
  {
    const auto reader = Store::open_read_only(path());
    EXPECT_TRUE(reader.ok()) << reader.error().text();
    if (reader.ok()) {
      EXPECT_EQ(reader->query({})->size(), 1U);
    }
    const auto writer = Store::open(path());
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.error().code, ErrorCode::kIo);
    EXPECT_THAT(writer.error().hint, HasSubstr("--db"));
  }
  EXPECT_EQ(umount2(c, MNT_DETACH), 0);
}

}  // namespace
}  // namespace assay

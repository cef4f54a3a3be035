// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong with workers, databases and users in a hurry. Each fault leaves a record or
// nothing, never half of one; the null engine plays the faulty framework.
#include <chrono>
#include <csignal>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "cli/run_assay.h"
#include "record/store.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class FaultsTest : public testing::Test {
 protected:
  std::vector<Record> records() { return records_of(folder_ / "assay.db"); }
  // Two cases of one worker: one step, and twenty, in which the fault strikes. With this order seed
  // the short one comes first (a test says so).
  static std::vector<std::string> two_cases(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{
        "sweep", "image-classification", "--activity", "train", "--engine", "null", "--steps",
        "1,20",  "--order-seed",         "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static std::map<std::string, std::string> fault(const char* what) {
    return {{"ASSAY_NULL_FAULT", what}};
  }
  const Record* of_steps(const std::vector<Record>& all, int64_t steps) {
    for (auto record = all.rbegin(); record != all.rend(); ++record)
      if (record->measured_case.integer("steps") == steps) return &*record;
    return nullptr;
  }
  ScratchFolder folder_;
};

TEST_F(FaultsTest, ACrashIsARecordAndTheRestGoesOn) {
  const Finished sweep = run_assay(folder_.path(), two_cases(), fault("crash@5"));
  EXPECT_EQ(sweep.code, 1);
  const std::vector<Record> all = records();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(of_steps(all, 1)->status, Status::kMeasured);
  EXPECT_EQ(of_steps(all, 20)->status, Status::kCrashed);
  EXPECT_THAT(of_steps(all, 20)->reason, HasSubstr("the worker ended"));
  EXPECT_EQ(of_steps(all, 20)->digest, of_steps(all, 1)->digest);
}

TEST_F(FaultsTest, AKilledWorkerIsACrashedRecord) {
  RunningAssay sweep(folder_.path(), two_cases(), fault("hang@5"));
  ASSERT_TRUE(eventually([&] { return records().size() == 1; })) << sweep.err();
  const pid_t worker = sweep.worker();
  ASSERT_NE(worker, 0);
  ::kill(worker, SIGKILL);
  EXPECT_EQ(sweep.finish().code, 1);
  const std::vector<Record> all = records();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(of_steps(all, 1)->status, Status::kMeasured);
  EXPECT_EQ(of_steps(all, 20)->status, Status::kCrashed);
  EXPECT_THAT(of_steps(all, 20)->reason, HasSubstr("signal 9"));
}

TEST_F(FaultsTest, AHangIsATimeout) {
  const Finished sweep = run_assay(folder_.path(), two_cases({"--timeout", "10"}), fault("hang@5"));
  EXPECT_EQ(sweep.code, 1);
  const std::vector<Record> all = records();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(of_steps(all, 20)->status, Status::kTimeout);
  EXPECT_THAT(of_steps(all, 20)->reason, HasSubstr("no result within"));
}

TEST_F(FaultsTest, ACaseThatOutlivesItsBudgetIsEndedAndTheNextIsSkipped) {
  ASSERT_TRUE(write_file(folder_ / "s.toml", R"(
title = "Short"
[budget_s]
train = 4
[[part]]
name = "train"
[[part.sweep]]
activity = "train"
workload = "image-classification"
engine = "null"
steps = [20, 21]
)")
                  .ok());
  EXPECT_EQ(run_assay(folder_.path(), {"study", "s.toml"}, fault("hang@5")).code, 1);
  const std::vector<Record> all = records();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].status, Status::kTimeout);
  EXPECT_THAT(all[0].reason, HasSubstr("time budget of train (4 s)"));
  EXPECT_EQ(all[1].status, Status::kSkipped);
}

TEST_F(FaultsTest, ALossThatIsNoNumberFailsAtOnce) {
  const Finished train = run_assay(
      folder_.path(), {"train", "image-classification", "--engine", "null", "--steps", "20"},
      fault("nan@5"));
  EXPECT_EQ(train.code, 1);
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].status, Status::kFailed);
  EXPECT_THAT(records()[0].reason, testing::StartsWith("diverged"));
  ASSERT_NE(records()[0].samples_named("loss"), nullptr);
  // The losses until then are kept.
  EXPECT_GE(records()[0].samples_named("loss")->values.size(), 4U);
  EXPECT_LE(records()[0].samples_named("loss")->values.size(), 5U);
}

TEST_F(FaultsTest, AnErrorOfTheEngineIsAFailedRecord) {
  EXPECT_EQ(run_assay(folder_.path(), two_cases(), fault("error@5")).code, 1);
  const std::vector<Record> all = records();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(of_steps(all, 20)->status, Status::kFailed);
  EXPECT_EQ(of_steps(all, 1)->status, Status::kMeasured);
}

TEST_F(FaultsTest, AWorkerBeyondItsMemoryIsEnded) {
  const Finished train = run_assay(folder_.path(),
                                   {"train", "image-classification", "--engine", "null", "--steps",
                                    "400", "--memory-limit", "2000000000"},
                                   fault("memory@0"));
  EXPECT_EQ(train.code, 1);
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].status, Status::kFailed);
  EXPECT_THAT(records()[0].reason, HasSubstr("out of memory"));
  EXPECT_THAT(records()[0].reason, HasSubstr("GiB"));
}

TEST_F(FaultsTest, AKilledSupervisorLeavesNoOrphanAndLosesNothing) {
  pid_t worker = 0;
  {
    RunningAssay sweep(folder_.path(), two_cases(), fault("hang@5"));
    ASSERT_TRUE(eventually([&] { return records().size() == 1; })) << sweep.err();
    worker = sweep.worker();
    ASSERT_NE(worker, 0);
    sweep.signal(SIGKILL);
    EXPECT_EQ(sweep.finish().signal, SIGKILL);
  }
  EXPECT_TRUE(eventually([&] { return !process_lives(worker); }));
  ASSERT_THAT(records(), SizeIs(1));
  const Finished resumed = run_assay(folder_.path(), two_cases({"--resume"}));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("from before"));
  const std::vector<Record> all = records();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].run_id, all[1].run_id);
}

TEST_F(FaultsTest, CtrlCKeepsWhatIsFinishedAndResumes) {
  // Every call of the long case takes 100 ms.
  RunningAssay sweep(folder_.path(), two_cases({"--format", "jsonl"}), fault("slow@1"));
  ASSERT_TRUE(eventually([&] { return records().size() == 1; })) << sweep.err();
  sweep.signal(SIGINT);
  const Finished interrupted = sweep.finish();
  EXPECT_EQ(interrupted.code, 130);
  EXPECT_EQ(interrupted.signal, 0);
  EXPECT_THAT(interrupted.err, HasSubstr("--resume continues"));
  EXPECT_THAT(interrupted.out, HasSubstr("steps=1\""));  // what is finished is printed
  EXPECT_THAT(records(), SizeIs(1));
  const Finished resumed = run_assay(folder_.path(), two_cases({"--resume", "--format", "jsonl"}));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(records(), SizeIs(2));
}

TEST_F(FaultsTest, TheShortCaseComesFirst) {
  const Finished dry = run_assay(folder_.path(), two_cases({"--dry-run", "--format", "csv"}));
  EXPECT_LT(dry.out.find("steps=1"), dry.out.find("steps=20")) << dry.out;
}

TEST_F(FaultsTest, CtrlCEndsAHangingWorkerToo) {
  RunningAssay train(folder_.path(),
                     {"train", "image-classification", "--engine", "null", "--steps", "20"},
                     fault("hang@0"));
  const pid_t worker = train.worker();
  ASSERT_NE(worker, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  train.signal(SIGINT);
  EXPECT_EQ(train.finish().code, 130);
  EXPECT_FALSE(process_lives(worker));
  EXPECT_THAT(records(), SizeIs(0));
}

TEST_F(FaultsTest, CtrlCAtOnceLeavesNothingRunning) {
  RunningAssay train(folder_.path(),
                     {"train", "image-classification", "--engine", "null", "--steps", "20"});
  const pid_t worker = train.worker();
  train.signal(SIGINT);
  const Finished finished = train.finish();
  EXPECT_TRUE(finished.code == 130 || finished.code == 0) << finished.err;
  EXPECT_FALSE(process_lives(worker));
}

TEST_F(FaultsTest, AFaultyCompilationIsARecord) {
  EXPECT_EQ(run_assay(folder_.path(), two_cases(), fault("error@compile")).code, 1);
  ASSERT_THAT(records(), SizeIs(2));
  for (const Record& record : records()) EXPECT_EQ(record.status, Status::kFailed);
}

TEST_F(FaultsTest, ADatabaseThatCannotBeWrittenIsTheUsersError) {
  const Finished train =
      run_assay(folder_.path(), {"train", "image-classification", "--engine", "null", "--steps",
                                 "1", "--db", "/nonexistent/folder/assay.db"});
  EXPECT_EQ(train.code, 2);
  EXPECT_THAT(train.err, HasSubstr("/nonexistent/folder/assay.db"));
}

TEST_F(FaultsTest, ADatabaseOfANewerSchemaIsRefused) {
  { ASSERT_TRUE(Store::open(folder_ / "assay.db").ok()); }
  SQLite::Database((folder_ / "assay.db").string(), SQLite::OPEN_READWRITE)
      .exec("PRAGMA user_version = 9999");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"train", "image-classification", "--engine", "null", "--steps", "1"}, {"report"}}) {
    const Finished finished = run_assay(folder_.path(), arguments);
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr("newer"));
  }
}

TEST_F(FaultsTest, AFileThatIsNoDatabaseIsLeftAlone) {
  ASSERT_TRUE(
      write_file(folder_ / "assay.db", "a letter to a friend, long enough to be kept").ok());
  const Finished train = run_assay(
      folder_.path(), {"train", "image-classification", "--engine", "null", "--steps", "1"});
  EXPECT_EQ(train.code, 2);
  EXPECT_EQ(read_file(folder_ / "assay.db").value(),
            "a letter to a friend, long enough to be kept");
}

TEST_F(FaultsTest, AWorkerRefusesNonsense) {
  const Finished worker = run_shell(folder_.path(), "echo nonsense | \"$ASSAY\" worker; exit $?");
  EXPECT_EQ(worker.code, 2);
}

}  // namespace
}  // namespace assay::cli

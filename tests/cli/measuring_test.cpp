// SPDX-License-Identifier: Apache-2.0
//
// Commands that measure, with the null engine: what they leave behind, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/run_assay.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class MeasuringTest : public testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments,
               const std::map<std::string, std::string>& environment = {}) {
    return run_assay(folder_.path(), std::move(arguments), environment);
  }
  Json rows_of(const Finished& finished) {
    const auto document = parse_json(finished.out, "stdout");
    return document.ok() ? (*document)["rows"] : Json::array();
  }
  std::vector<Record> records() { return records_of(folder_ / "assay.db"); }

  ScratchFolder folder_;
};

TEST_F(MeasuringTest, TrainsSoManySteps) {
  const Finished train = run({"train", "image-classification", "--engine", "null", "--steps", "5",
                              "--seed", "18446744073709551615", "--format", "json"});
  ASSERT_EQ(train.code, 0) << train.err;
  const Json row = rows_of(train).at(0);
  EXPECT_EQ(row["status"], "measured");
  EXPECT_EQ(row["steps"], 5);
  EXPECT_EQ(row["item"], "image");
  EXPECT_EQ(row["seed"], "18446744073709551615");
  EXPECT_GT(row["throughput_per_s"].get<double>(), 0);
  EXPECT_TRUE(row["time_to_target_s"].is_null());
  EXPECT_THAT(row["missing"]["time_to_target_s"].get<std::string>(), HasSubstr("steps"));
  EXPECT_EQ(row["digest"].get<std::string>().size(), 64U);
  ASSERT_THAT(records(), SizeIs(1));
  const Record record = records()[0];
  EXPECT_EQ(record.samples_named("step_time_ns")->values.size(), 5U);
  EXPECT_EQ(record.samples_named("loss")->values.size(), 5U);
  EXPECT_FALSE(record.environment_id.empty());
  EXPECT_FALSE(record.code_version.empty());
}

TEST_F(MeasuringTest, RunsAPrintedCaseAgain) {
  run({"train", "image-classification", "--engine", "null", "--steps", "3"});
  ASSERT_THAT(records(), SizeIs(1));
  const Record first = records()[0];
  const Finished again = run({"train", "--case", first.measured_case.text()});
  EXPECT_EQ(again.code, 0) << again.err;
  ASSERT_THAT(records(), SizeIs(2));
  EXPECT_EQ(records()[1].measured_case, first.measured_case);
  EXPECT_EQ(records()[1].digest, first.digest);
  EXPECT_THAT(run({"infer", "--case", first.measured_case.text()}).err, HasSubstr("assay train"));
}

TEST_F(MeasuringTest, OverridesChangeTheDigest) {
  run({"train", "image-classification", "--engine", "null", "--steps", "2"});
  run({"train", "image-classification", "--engine", "null", "--steps", "2", "--set",
       "recipe.optimizer.rate=0.05"});
  ASSERT_THAT(records(), SizeIs(2));
  EXPECT_NE(records()[0].digest, records()[1].digest);
  const Finished wrong = run({"train", "image-classification", "--engine", "null", "--steps", "2",
                              "--set", "optimizer.raet=1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("optimizer.rate"));
}

TEST_F(MeasuringTest, TrainingLeavesWeightsThatInferenceFinds) {
  const Finished before = run({"infer", "image-classification", "--engine", "null", "--batch", "4",
                               "--repeat", "3", "--format", "json"});
  ASSERT_EQ(before.code, 0) << before.err;
  EXPECT_TRUE(rows_of(before).at(0)["quality"].is_null());
  EXPECT_THAT(rows_of(before).at(0)["missing"]["quality"].get<std::string>(),
              HasSubstr("no trained weights"));
  // Zeros out of the null engine are right for one class of ten.
  const Finished train = run({"train", "image-classification", "--engine", "null", "--epochs",
                              "0.02", "--set", "target=0.05", "--mllog", "log.txt"});
  EXPECT_EQ(train.code, 0) << train.err;
  ASSERT_THAT(records(), SizeIs(2));
  EXPECT_EQ(records()[1].facts.at("reached"), "true");
  EXPECT_THAT(read_file(folder_ / "log.txt").value(), HasSubstr(":::MLLOG"));
  const Finished after = run({"infer", "--engine", "null", "image-classification", "--batch", "4,8",
                              "--repeat", "3", "--set", "target=0.05", "--checkpoint",
                              records()[1].facts.at("checkpoint"), "--format", "json"});
  // Another schedule is another recipe: those weights are not taken for these.
  EXPECT_EQ(after.code, 1);
  EXPECT_THAT(rows_of(after).at(0)["reason"].get<std::string>(), HasSubstr("digest"));
}

TEST_F(MeasuringTest, AccuracyStandsBesideSpeed) {
  ASSERT_EQ(run({"train", "image-classification", "--engine", "null", "--set", "target=0.05,0.06",
                 "--set", "epochs=0.02", "--format", "csv"})
                .code,
            0);
  const Finished infer =
      run({"infer", "image-classification", "--engine", "null", "--batch", "4,8", "--repeat", "3",
           "--set", "target=0.05", "--set", "epochs=0.02", "--format", "json"});
  ASSERT_EQ(infer.code, 0) << infer.err;
  const Json rows = rows_of(infer);
  ASSERT_EQ(rows.size(), 2U);
  for (const Json& row : rows) {
    EXPECT_NEAR(row["quality"].get<double>(), 0.1, 1e-9);
    EXPECT_EQ(row["samples"], 3);
    EXPECT_GT(row["latency_mean_ns"].get<double>(), 0);
    EXPECT_TRUE(row["latency_p99_9_ns"].is_null());
  }
}

TEST_F(MeasuringTest, InfersABareModel) {
  const Finished infer = run({"infer", "model:resnet", "--engine", "null", "--batch", "2",
                              "--repeat", "3", "--format", "json"});
  ASSERT_EQ(infer.code, 0) << infer.err;
  EXPECT_EQ(rows_of(infer).at(0)["model"], "resnet");
  EXPECT_TRUE(rows_of(infer).at(0)["quality"].is_null());
}

TEST_F(MeasuringTest, ATargetMissedIsShortOfTarget) {
  const Finished train =
      run({"train", "image-classification", "--engine", "null", "--epochs", "0.02"});
  EXPECT_EQ(train.code, 1);
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].status, Status::kShortOfTarget);
  EXPECT_THAT(records()[0].reason, HasSubstr("below the target"));
}

TEST_F(MeasuringTest, SweepsAreProductsInAnOrderOfTheirOwn) {
  const Finished sweep = run({"sweep", "image-classification", "--engine", "null", "--batch", "1-4",
                              "--threads", "1,2", "--repeat", "2", "--format", "jsonl"});
  ASSERT_EQ(sweep.code, 0) << sweep.err;
  EXPECT_THAT(records(), SizeIs(8));
  EXPECT_EQ(std::count(sweep.out.begin(), sweep.out.end(), '\n'), 8);
}

TEST_F(MeasuringTest, ADryRunMeasuresNothing) {
  const Finished dry = run({"sweep", "image-classification", "--engine", "null", "--batch", "1-4",
                            "--dry-run", "--format", "json"});
  ASSERT_EQ(dry.code, 0) << dry.err;
  const Json rows = rows_of(dry);
  ASSERT_EQ(rows.size(), 4U);
  for (const Json& row : rows) EXPECT_GT(row["flops"].get<double>(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "assay.db"));
}

TEST_F(MeasuringTest, NamesThatDoNotExistComeWithTheNearest) {
  EXPECT_THAT(run({"train", "image-clasification"}).err,
              HasSubstr("did you mean 'image-classification'"));
  EXPECT_THAT(run({"train", "image-classification", "--engine", "nul"}).err,
              HasSubstr("did you mean 'null'"));
  EXPECT_THAT(run({"study", "quikc"}).err, HasSubstr("did you mean 'quick'"));
  const Finished variant =
      run({"train", "image-classification", "--variant", "smal", "--engine", "null"});
  EXPECT_EQ(variant.code, 2);
  EXPECT_THAT(variant.err, HasSubstr("did you mean 'small'"));
}

TEST_F(MeasuringTest, ContradictionsAreRefused) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"train", "image-classification", "--steps", "3", "--epochs", "1"},
           {"train", "image-classification", "--seed", "3", "--seeds", "2"},
           {"train", "--case", "v1:activity=train workload=image-classification", "--threads", "1"},
           {"train", "image-classification", "--case", "v1:activity=train"},
           {"train", "image-classification", "--engine", "null", "--resume"},
           {"infer", "image-classification", "--engine", "null", "--repeat", "3", "--min-time",
            "1"},
           {"infer", "image-classification", "--engine", "null", "--min-time", "3", "--max-time",
            "1"},
           {"train", "model:resnet", "--engine", "null"},
           {"train"}}) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.code, 2) << join(arguments, " ");
    EXPECT_THAT(refused.err, testing::StartsWith("error: ")) << join(arguments, " ");
    EXPECT_THAT(refused.err, testing::Not(HasSubstr("is not available"))) << join(arguments, " ");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "assay.db"));
}

TEST_F(MeasuringTest, ABadCaseIsWhatIsWrongWhateverStandsBesideIt) {
  const Finished infer = run({"infer", "image-classification", "--case", "v1:nonsense=1"});
  EXPECT_EQ(infer.code, 2);
  EXPECT_THAT(infer.err, HasSubstr("unknown case key 'nonsense'"));
}

TEST_F(MeasuringTest, ADeviceThatIsNotHereIsNamed) {
  const Finished infer = run({"infer", "image-classification", "--engine", "reference", "--device",
                              "cuda:1", "--repeat", "1", "--format", "json"});
  EXPECT_EQ(infer.code, 0) << infer.err;
  const Json row = rows_of(infer).at(0);
  EXPECT_EQ(row["status"], "unsupported");
  EXPECT_THAT(row["reason"].get<std::string>(),
              testing::StartsWith("reference cannot run f32 on cuda:1: "));
  EXPECT_EQ(rows_of(run({"infer", "image-classification", "--engine", "null", "--device", "cuda:0",
                         "--format", "json"}))
                .at(0)["status"],
            "unsupported");
  const Finished nonsense =
      run({"infer", "image-classification", "--engine", "reference", "--device", "toaster"});
  EXPECT_EQ(nonsense.code, 2);
  EXPECT_THAT(nonsense.err, HasSubstr("toaster"));
}

TEST_F(MeasuringTest, APriceMakesCosts) {
  const Finished train = run({"train", "image-classification", "--engine", "null", "--steps", "5",
                              "--price", "3.6", "--format", "json"});
  ASSERT_EQ(train.code, 0) << train.err;
  const Json row = rows_of(train).at(0);
  EXPECT_NEAR(row["cost_usd"].get<double>(), row["time_s"].get<double>() / 1000, 1e-9);
  EXPECT_NEAR(row["cost_per_million_usd"].get<double>(),
              1000 / row["throughput_per_s"].get<double>(), 1e-9);
  const Finished free = run({"infer", "image-classification", "--engine", "null", "--batch", "4",
                             "--repeat", "3", "--format", "json"});
  EXPECT_TRUE(rows_of(free).at(0)["cost_usd"].is_null());
  EXPECT_THAT(rows_of(free).at(0)["missing"]["cost_usd"].get<std::string>(), HasSubstr("--price"));
}

TEST_F(MeasuringTest, TheMlperfLogInventsNobodyAndNothing) {
  const std::vector<std::string> arguments{
      "train", "image-classification", "--engine", "null", "--steps", "2", "--mllog", "log.txt"};
  ASSERT_EQ(run(arguments).code, 0);
  const std::string log = read_file(folder_ / "log.txt").value();
  EXPECT_THAT(log, HasSubstr(R"("key": "submission_org", "value": "unknown")"));
  EXPECT_THAT(log, testing::ContainsRegex(R"("key": "submission_platform", "value": "[0-9]+ x )"));
  std::vector<std::string> named = arguments;
  named.insert(named.end(), {"--organisation", "Example Org"});
  ASSERT_EQ(run(named).code, 0);
  EXPECT_THAT(read_file(folder_ / "log.txt").value(),
              HasSubstr(R"("key": "submission_org", "value": "Example Org")"));
  EXPECT_THAT(run({"train", "image-classification", "--organisation", "Example"}).err,
              HasSubstr("--organisation is for the MLPerf log"));
}

TEST_F(MeasuringTest, WhatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"train", "image-classification", "--engine", "null", "--steps", "1", "--mllog",
            "/none/log.txt"},
           {"train", "image-classification", "--engine", "null", "--steps", "1", "--mllog", "/tmp"},
           {"study", "quick", "--out", "/none/report.html"},
           {"infer", "image-classification", "--engine", "null", "--checkpoint", "/none/w"}}) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.code, 2) << join(arguments, " ");
    EXPECT_THAT(refused.err, HasSubstr("hint: ")) << join(arguments, " ");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "assay.db"));
}

TEST_F(MeasuringTest, WithoutAnyEngineItSaysHowToGetOne) {
  const Finished train = run({"train", "image-classification", "--steps", "1"},
                             {{"ASSAY_ENGINES", folder_.path().string()}});
  EXPECT_EQ(train.code, 2);
  EXPECT_THAT(train.err, HasSubstr("engine torch is not available"));
  EXPECT_THAT(train.err, HasSubstr("hint: "));
}

TEST_F(MeasuringTest, AMissingDataSetIsSkippedWithWhatMendsIt) {
  const std::vector<std::string> arguments{
      "train", "image-classification", "--variant", "reference", "--engine", "null", "--steps",
      "1"};
  const std::map<std::string, std::string> nowhere{
      {"ASSAY_DATA_IMAGENET", (folder_ / "nowhere").string()}};
  EXPECT_EQ(run(arguments, nowhere).code, 0);
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(records()[0].status, Status::kSkipped);
  EXPECT_THAT(records()[0].reason, HasSubstr("nowhere"));
  std::vector<std::string> strict = arguments;
  strict.emplace_back("--strict");
  EXPECT_EQ(run(strict, nowhere).code, 1);
}

TEST_F(MeasuringTest, AStudyKeepsItsBudgetsAndWritesItsReport) {
  ASSERT_TRUE(write_file(folder_ / "tiny.toml", R"(
title = "Tiny"
report = "tiny.html"
[budget_s]
train = 60
never = 0.000001
[[part]]
name = "train"
[[part.sweep]]
activity = "train"
workload = "image-classification"
engine = "null"
steps = [2, 3]
[[part]]
name = "never"
[[part.sweep]]
activity = "infer"
workload = "image-classification"
engine = "null"
)")
                  .ok());
  const Finished study = run({"study", "tiny.toml"});
  EXPECT_EQ(study.code, 0) << study.err;
  EXPECT_THAT(study.err, HasSubstr("report: tiny.html"));
  ASSERT_THAT(records(), SizeIs(3));
  EXPECT_EQ(records()[2].status, Status::kSkipped);
  EXPECT_THAT(records()[2].reason, HasSubstr("time budget of never"));
  EXPECT_EQ(records()[0].facts.at("part"), "train");
  EXPECT_THAT(read_file(folder_ / "tiny.html").value(), HasSubstr("Tiny"));
  EXPECT_EQ(run({"report", "--out", "again.html"}).code, 0);
}

}  // namespace
}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
#include "record/row.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "record/sample_records.h"

namespace assay {
namespace {

Json row_for(const Record& record, std::string_view command) {
  return row_of(record, *find_row_schema(command));
}

TEST(Row, TakesEachFieldFromItsSource) {
  Record record = sample_records::trained();
  record.id = 7;
  const Json row = row_for(record, "train");
  EXPECT_EQ(row["case"], record.measured_case.text());
  EXPECT_EQ(row["digest"], std::string(64, 'a'));
  EXPECT_EQ(row["status"], "noisy");
  EXPECT_EQ(row["reason"], "step times vary by 9 %");
  EXPECT_EQ(row["workload"], "image-classification");
  EXPECT_EQ(row["seed"], "11400714819323198485");
  EXPECT_EQ(row["engine"], "torch");
  EXPECT_EQ(row["time_to_target_s"], 42.125);
  EXPECT_EQ(row["throughput_per_s"], 4321.5);
  EXPECT_EQ(row["throughput_low_per_s"], 4300.25);
  EXPECT_EQ(row["throughput_high_per_s"], 4342.75);
  EXPECT_EQ(row["throughput_interval_method"], "batch-means");
  EXPECT_EQ(row["item"], "image");
  EXPECT_EQ(row["reached"], true);
  EXPECT_EQ(row["marks"], Json::array({"contended: CPU time is 71 % of wall time"}));
  EXPECT_EQ(row["record"], 7);
  EXPECT_EQ(row["run"], "run-1");
  EXPECT_EQ(row["started"], "2026-11-30T00:53:20Z");
  EXPECT_EQ(row["duration_s"], 45.5);
}

TEST(Row, PrefersWhatWasUsedToWhatTheCaseLeavesOpen) {
  const Json row = row_for(sample_records::trained(), "train");
  EXPECT_EQ(row["batch"], 128);  // the metric; the case says 0, the recipe's
  EXPECT_TRUE(row["threads"].is_null());
  EXPECT_EQ(row["missing"]["threads"], "every thread");
  EXPECT_EQ(row_for(sample_records::inferred(), "infer")["batch"], 16);
}

TEST(Row, NamesTheReasonOfEveryNullAndOfNothingElse) {
  for (const Record& record :
       {sample_records::trained(), sample_records::inferred(), sample_records::crashed()}) {
    for (const char* command : {"train", "infer", "sweep", "study"}) {
      const Json row = row_for(record, command);
      for (const Field& field : find_row_schema(command)->fields) {
        ASSERT_TRUE(row.contains(field.name)) << field.name;
        EXPECT_EQ(row[field.name].is_null(), row["missing"].contains(field.name)) << field.name;
      }
      for (const auto& [name, reason] : row["missing"].items()) {
        EXPECT_FALSE(reason.get<std::string>().empty()) << name;
      }
    }
  }
}

TEST(Row, GivesTheRecordsOwnReasonElseItsStatus) {
  EXPECT_EQ(row_for(sample_records::trained(), "train")["missing"]["energy_joules"],
            "no RAPL in this virtual machine");
  EXPECT_EQ(row_for(sample_records::inferred(), "infer")["missing"]["latency_p99_9_ns"],
            "needs 1000 samples");
  EXPECT_EQ(row_for(sample_records::inferred(), "infer")["missing"]["latency_p99_ns"],
            "not recorded");
  EXPECT_EQ(row_for(sample_records::inferred(), "infer")["missing"]["throughput_low_per_s"],
            "no interval was computed");
  Record short_series = sample_records::inferred();
  short_series.missing["throughput_per_s.interval"] = "9 samples are too few";
  for (const char* field :
       {"throughput_low_per_s", "throughput_high_per_s", "throughput_interval_method"})
    EXPECT_EQ(row_for(short_series, "infer")["missing"][field], "9 samples are too few");
  EXPECT_EQ(row_for(sample_records::crashed(), "infer")["missing"]["throughput_per_s"],
            "crashed: signal 11 (Segmentation fault)");
}

TEST(Row, NeverShowsAMagicNumberForOneThatIsNotFinite) {
  Record record = sample_records::inferred();
  record.add("quality", std::nan(""));
  record.add("latency_p99_ns", INFINITY);
  const Json row = row_for(record, "infer");
  EXPECT_TRUE(row["quality"].is_null());
  EXPECT_EQ(row["missing"]["quality"], "not a number");
  EXPECT_EQ(row["missing"]["latency_p99_ns"], "infinite");
}

TEST(Row, OfACommandThatMeasuresNothingIsFilledUp) {
  const RowSchema& schema = *find_row_schema("data");
  const Json row = make_row(
      schema,
      {{"name", "fashion-mnist"}, {"items", 70000}, {"missing", {{"size_bytes", "not prepared"}}}});
  EXPECT_EQ(row["status"], "measured");
  EXPECT_EQ(row["reason"], "");
  EXPECT_EQ(row["items"], 70000);
  EXPECT_TRUE(row["size_bytes"].is_null());
  EXPECT_EQ(row["missing"]["size_bytes"], "not prepared");
  EXPECT_EQ(row["missing"]["case"], "nothing was measured");
  EXPECT_EQ(row["missing"]["path"], "does not apply");
  EXPECT_EQ(row.size(), schema.fields.size() + 1);
}

TEST(RowDeathTest, RefusesFieldsThatAreNotInTheSchema) {
  EXPECT_DEATH(make_row(*find_row_schema("data"), {{"colour", "red"}}), "colour");
}

}  // namespace
}  // namespace assay

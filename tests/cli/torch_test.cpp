// SPDX-License-Identifier: Apache-2.0
//
// The whole way through a real framework; skipped in builds without it.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/run_assay.h"

namespace assay::cli {
namespace {

class TorchTest : public testing::Test {
 protected:
  void SetUp() override {
    const Finished list = run_assay(folder_.path(), {"list", "engines", "--format", "json"});
    const auto document = parse_json(list.out, "stdout");
    ASSERT_TRUE(document.ok()) << list.err;
    const Json& rows = (*document)["rows"];
    const bool available = std::any_of(rows.begin(), rows.end(), [](const Json& row) {
      return row["name"] == "torch" && row["status"] == "measured";
    });
    if (!available) GTEST_SKIP() << "this build has no torch engine";
  }
  ScratchFolder folder_;
};

TEST_F(TorchTest, TheSameSeedGivesTheSameLosses) {
  for (int i = 0; i < 2; ++i) {
    const Finished train = run_assay(folder_.path(), {"train", "image-classification", "--steps",
                                                      "5", "--seed", "7", "--threads", "1"});
    ASSERT_EQ(train.code, 0) << train.err;
  }
  const std::vector<Record> records = records_of(folder_ / "assay.db");
  ASSERT_EQ(records.size(), 2U);
  const std::vector<double>& losses = records[0].samples_named("loss")->values;
  EXPECT_EQ(losses.size(), 5U);
  EXPECT_EQ(losses, records[1].samples_named("loss")->values);
  EXPECT_GT(losses[0], 1.0);
  EXPECT_GT(records[0].metric("peak_rss_bytes")->value, 1e6);
}

TEST_F(TorchTest, InferenceSaysWhatItReallyUsed) {
  const Finished infer =
      run_assay(folder_.path(), {"infer", "image-classification", "--batch", "8", "--precision",
                                 "f32,bf16", "--repeat", "5", "--threads", "1"});
  ASSERT_EQ(infer.code, 0) << infer.err;
  const std::vector<Record> records = records_of(folder_ / "assay.db");
  ASSERT_EQ(records.size(), 2U);
  for (const Record& record : records)
    EXPECT_EQ(record.facts.at("precision_used"), record.measured_case.get("precision"));
}

}  // namespace
}  // namespace assay::cli

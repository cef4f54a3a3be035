// SPDX-License-Identifier: Apache-2.0
#include "quality/topk.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Tensor scores_f32(std::vector<std::vector<float>> rows) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return Tensor::from<float>(
      DType::kF32, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())},
      values);
}

Batch labelled(std::vector<int64_t> labels) {
  Batch batch;
  batch.items = static_cast<int64_t>(labels.size());
  batch.inputs = {Tensor::scalar_f32(0), Tensor::vector_i64(labels)};
  return batch;
}

double accuracy(int64_t k, std::vector<std::vector<float>> rows, std::vector<int64_t> labels) {
  TopKAccuracy evaluator(k);
  const Tensor scores = scores_f32(std::move(rows));
  EXPECT_TRUE(evaluator.add(labelled(std::move(labels)), {&scores, 1}).ok());
  const auto value = evaluator.value();
  EXPECT_TRUE(value.ok());
  return value.ok() ? *value : -1;
}

TEST(TopKAccuracy, EqualsScikitLearnOnTwoHundredCasesWithTies) {
  const auto text = read_file(ASSAY_SOURCE_DIR "/tests/quality/topk_golden.json");
  ASSERT_TRUE(text.ok()) << text.error().text();
  const Json cases = Json::parse(*text);
  ASSERT_EQ(cases.size(), 200U);
  for (const Json& golden : cases) {
    const double found = accuracy(golden["k"], golden["scores"], golden["labels"]);
    EXPECT_DOUBLE_EQ(found, golden["accuracy"].get<double>()) << golden.dump();
  }
}

TEST(TopKAccuracy, TiesGoToTheSmallerClass) {
  EXPECT_EQ(accuracy(1, {{1, 1, 0}}, {0}), 1);
  EXPECT_EQ(accuracy(1, {{1, 1, 0}}, {1}), 0);
  EXPECT_EQ(accuracy(2, {{1, 1, 1}}, {1}), 1);
  EXPECT_EQ(accuracy(2, {{1, 1, 1}}, {2}), 0);
}

TEST(TopKAccuracy, InfiniteScoresAreOrdered) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(accuracy(1, {{-infinity, 3, infinity}}, {2}), 1);
}

TEST(TopKAccuracy, CountsAllItemsWhenKCoversEveryClass) {
  EXPECT_EQ(accuracy(5, {{1, 2, 3}, {3, 2, 1}}, {0, 2}), 1);
}

TEST(TopKAccuracy, AddsUpBatchesOfDifferentSizes) {
  TopKAccuracy evaluator(1);
  const Tensor two = scores_f32({{1, 0}, {0, 1}});
  const Tensor one = scores_f32({{1, 0}});
  ASSERT_TRUE(evaluator.add(labelled({0, 1}), {&two, 1}).ok());
  ASSERT_TRUE(evaluator.add(labelled({1}), {&one, 1}).ok());
  EXPECT_EQ(evaluator.items(), 3);
  EXPECT_DOUBLE_EQ(*evaluator.value(), 2.0 / 3.0);
  evaluator.reset();
  EXPECT_EQ(evaluator.items(), 0);
}

TEST(TopKAccuracy, HasNoValueWhenNothingWasAdded) {
  const auto value = TopKAccuracy(1).value();
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().code, ErrorCode::kInvalid);
}

TEST(TopKAccuracy, RefusesScoresThatAreNotNumbersAndCountsNothing) {
  TopKAccuracy evaluator(1);
  const Tensor scores = scores_f32({{1, 0}, {0, std::numeric_limits<float>::quiet_NaN()}});
  const auto added = evaluator.add(labelled({0, 0}), {&scores, 1});
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kDiverged);
  EXPECT_THAT(added.error().text(), HasSubstr("item 1"));
  EXPECT_EQ(evaluator.items(), 0);
}

TEST(TopKAccuracy, RefusesALabelThatIsNoClass) {
  for (const int64_t label : {int64_t{-1}, int64_t{2}}) {
    TopKAccuracy evaluator(1);
    const Tensor scores = scores_f32({{1, 0}});
    const auto added = evaluator.add(labelled({label}), {&scores, 1});
    ASSERT_FALSE(added.ok());
    EXPECT_THAT(added.error().text(), HasSubstr("not below 2 classes"));
  }
}

TEST(TopKAccuracy, RefusesScoresOfAnotherShapeOrType) {
  TopKAccuracy evaluator(1);
  const Tensor scores = scores_f32({{1, 0}});
  EXPECT_FALSE(evaluator.add(labelled({0, 1}), {&scores, 1}).ok());
  const Tensor integers = Tensor::zeros(DType::kI32, {1, 2});
  EXPECT_FALSE(evaluator.add(labelled({0}), {&integers, 1}).ok());
  EXPECT_FALSE(evaluator.add(labelled({0}), {}).ok());
  EXPECT_FALSE(evaluator.add(Batch{}, {&scores, 1}).ok());
}

TEST(TopKAccuracy, ReadsHalfPrecisionScores) {
  const std::vector<float> values{0.5F, 2, -1, 4, 0, 3};
  std::vector<uint16_t> bf16;
  std::vector<uint16_t> f16;
  for (const float value : values) {
    bf16.push_back(f32_to_bf16(value));
    f16.push_back(f32_to_f16(value));
  }
  for (const auto& [dtype, bits] : {std::pair{DType::kBF16, bf16}, std::pair{DType::kF16, f16}}) {
    TopKAccuracy evaluator(1);
    const Tensor scores = Tensor::from<uint16_t>(dtype, {2, 3}, bits);
    ASSERT_TRUE(evaluator.add(labelled({1, 2}), {&scores, 1}).ok());
    EXPECT_DOUBLE_EQ(*evaluator.value(), 0.5);
  }
}

}  // namespace
}  // namespace assay

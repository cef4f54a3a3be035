// SPDX-License-Identifier: Apache-2.0
#include "graph/initializer.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace assay {
namespace {

const TensorType kBig(DType::kF32, Shape{64, 32, 3, 3});

std::vector<float> drawn(const Initializer& initializer, uint64_t seed = 1,
                         std::string_view name = "conv.weight") {
  const auto tensor = materialize(initializer, kBig, RandomKey(seed), name);
  const auto values = tensor->values<float>();
  return {values.begin(), values.end()};
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<float>& values) {
  const double center = mean(values);
  double sum = 0;
  for (const float value : values) sum += std::pow(static_cast<double>(value) - center, 2);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(Initializer, SameSeedAndNameGiveTheSameWeights) {
  const Initializer normal = Initializer::normal(0, 1);
  EXPECT_EQ(drawn(normal), drawn(normal));
  EXPECT_NE(drawn(normal, 1), drawn(normal, 2));
  EXPECT_NE(drawn(normal, 1, "a"), drawn(normal, 1, "b"));
}

TEST(Initializer, HeNormalHasTheVarianceOfItsFanOut) {
  const auto values = drawn(Initializer::he_normal_fan_out(*kBig.shape));
  const double expected = std::sqrt(2.0 / (64 * 9));
  // 18,432 draws: the standard error of the deviation is 0.5 %; of the mean 0.7 % of it.
  EXPECT_NEAR(deviation(values), expected, 0.03 * expected);
  EXPECT_NEAR(mean(values), 0, 0.04 * expected);
}

TEST(Initializer, UniformFanInStaysWithinItsBound) {
  const auto values = drawn(Initializer::uniform_fan_in(25));
  EXPECT_LE(std::ranges::max(values), 0.2f);
  EXPECT_GE(std::ranges::min(values), -0.2f);
  EXPECT_NEAR(deviation(values), 0.4 / std::sqrt(12.0), 0.003);
}

TEST(Initializer, TruncatedNormalHasNoTail) {
  const auto values = drawn(Initializer::truncated_normal(1, 0.5f));
  EXPECT_LE(std::ranges::max(values), 2.0f);
  EXPECT_GE(std::ranges::min(values), 0.0f);
  // The deviation of a normal cut at two is 0.8796 of the uncut one.
  EXPECT_NEAR(deviation(values), 0.5 * 0.8796, 0.01);
}

TEST(Initializer, SixteenBitWeightsAreTheRoundedOnes) {
  const Initializer normal = Initializer::normal(0, 1);
  const auto wide = materialize(normal, kBig, RandomKey(3), "w");
  const auto narrow = materialize(normal, TensorType(DType::kBF16, *kBig.shape), RandomKey(3), "w");
  for (int64_t i = 0; i < 100; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(narrow->values<uint16_t>()[at], f32_to_bf16(wide->values<float>()[at]));
  }
}

TEST(Initializer, GivenValuesMustHaveTheType) {
  const Initializer given = Initializer::of(Tensor::scalar_f32(3));
  EXPECT_TRUE(materialize(given, TensorType(DType::kF32, Shape()), RandomKey(1), "x").ok());
  const auto wrong = materialize(given, kBig, RandomKey(1), "x");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text(),
            "given values have type f32[] where the parameter has f32[64, 32, 3, 3] (x)");
}

TEST(Initializer, UnknownShapesAreErrors) {
  const TensorType unknown(DType::kF32, Shape{Dim::symbol("n")});
  EXPECT_FALSE(materialize(Initializer::zeros(), unknown, RandomKey(1), "x").ok());
}

TEST(Initializer, TextSaysWhatIsDrawn) {
  EXPECT_EQ(Initializer::constant(1).text(), "constant(1)");
  EXPECT_EQ(Initializer::normal(0, 0.5f).text(), "normal(0, 0.5)");
}

}  // namespace
}  // namespace assay

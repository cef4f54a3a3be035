// SPDX-License-Identifier: Apache-2.0
//
// Random operators: the moments of what they draw, and that a key decides everything.
#include <cmath>

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/interpret.h"

namespace assay {
namespace {

constexpr int64_t kDraws = 10000;

Tensor key(uint32_t low, uint32_t high) {
  const uint32_t words[] = {low, high};
  return Tensor::from<uint32_t>(DType::kU32, {2}, std::span<const uint32_t>(words));
}

Tensor drawn(std::string_view type, Attributes attributes, std::vector<Tensor> inputs = {}) {
  GraphBuilder b("random");
  std::vector<ValueId> ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ids.push_back(b.input("x" + std::to_string(i), inputs[i].type()));
  }
  b.output(b.add(type, ids, std::move(attributes)), "y");
  const auto outputs = interpret(std::move(b).build(), inputs);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().text());
  return outputs.ok() ? outputs->front() : Tensor();
}

double mean(const Tensor& tensor) {
  double sum = 0;
  for (const float value : tensor.values<float>()) sum += static_cast<double>(value);
  return sum / static_cast<double>(tensor.elements());
}
double deviation(const Tensor& tensor) {
  const double center = mean(tensor);
  double sum = 0;
  for (const float value : tensor.values<float>()) {
    sum += (static_cast<double>(value) - center) * (static_cast<double>(value) - center);
  }
  return std::sqrt(sum / static_cast<double>(tensor.elements()));
}

// Five standard errors of 10,000 draws: a false alarm in two million.
TEST(RandomOperators, DrawWhatTheySay) {
  const std::vector<int64_t> shape{kDraws};
  const Tensor normal = drawn("RandomNormal", {{"shape", shape}, {"mean", 2.0f}, {"scale", 3.0f}});
  EXPECT_NEAR(mean(normal), 2, 5 * 3 / 100.0);
  EXPECT_NEAR(deviation(normal), 3, 5 * 3 / std::sqrt(2.0 * kDraws));
  const Tensor uniform =
      drawn("RandomUniform", {{"shape", shape}, {"low", -1.0f}, {"high", 3.0f}, {"seed", 5.0f}});
  EXPECT_NEAR(mean(uniform), 1, 5 * 4 / std::sqrt(12.0) / 100);
  EXPECT_NEAR(deviation(uniform), 4 / std::sqrt(12.0), 0.05);
}

TEST(RandomOperators, AreDecidedByTheKey) {
  const Tensor like = Tensor::zeros(DType::kF32, {kDraws});
  const Tensor first = drawn("RandomNormalLike", {}, {like, key(1, 2)});
  const Tensor again = drawn("RandomNormalLike", {}, {like, key(1, 2)});
  const Tensor other = drawn("RandomNormalLike", {}, {like, key(1, 3)});
  EXPECT_TRUE(std::ranges::equal(first.values<float>(), again.values<float>()));
  size_t same = 0;
  for (size_t i = 0; i < kDraws; ++i) {
    same += first.values<float>()[i] == other.values<float>()[i] ? 1 : 0;
  }
  EXPECT_LT(same, 10u);
}

TEST(RandomOperators, BernoulliFollowsEachProbability) {
  Tensor p = Tensor::zeros(DType::kF32, {2, kDraws});
  std::fill_n(p.values<float>().begin() + kDraws, kDraws, 0.25f);
  const Tensor hits = drawn("Bernoulli", {{"seed", 1.0f}}, {p});
  double low = 0;
  double high = 0;
  for (size_t i = 0; i < kDraws; ++i) {
    low += static_cast<double>(hits.values<float>()[i]);
    high += static_cast<double>(hits.values<float>()[kDraws + i]);
  }
  EXPECT_EQ(low, 0);
  EXPECT_NEAR(high / kDraws, 0.25, 5 * std::sqrt(0.25 * 0.75 / kDraws));
}

TEST(RandomOperators, MultinomialFollowsTheLogProbabilities) {
  const float logs[] = {std::log(0.5f), std::log(0.2f), std::log(0.3f)};
  const Tensor x = Tensor::from<float>(DType::kF32, {1, 3}, std::span<const float>(logs));
  const Tensor classes = drawn("Multinomial", {{"sample_size", kDraws}, {"seed", 3.0f}}, {x});
  double counts[3] = {};
  for (const int32_t value : classes.values<int32_t>()) {
    ASSERT_TRUE(value >= 0 && value < 3);
    ++counts[value];
  }
  EXPECT_NEAR(counts[0] / kDraws, 0.5, 0.025);
  EXPECT_NEAR(counts[1] / kDraws, 0.2, 0.02);
}

TEST(RandomOperators, AreNeverFolded) {
  GraphBuilder b("random");
  b.add("RandomNormalLike", {b.constant("c", Tensor::zeros(DType::kF32, {2}))});
  EXPECT_EQ(b.peek().nodes().size(), 1u);
}

}  // namespace
}  // namespace assay

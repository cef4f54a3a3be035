// SPDX-License-Identifier: Apache-2.0
#include "engine/compare.h"

#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/graphs.h"
#include "graph/passes/passes.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Comparison compared(const Tensor& expected, const Tensor& actual, Tolerance tolerance = {}) {
  const auto result = compare(expected.view(), actual.view(), tolerance);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return *result;
}

TEST(Compare, PassesRoundingAndFailsOnePerCent) {
  const Tensor a = graphs::vector({1, -2, 3});
  EXPECT_EQ(compared(a, graphs::vector({1, -2.0000002F, 3})).verdict, CheckVerdict::kPassed);
  const Comparison wrong = compared(a, graphs::vector({1, -2.02F, 3}));
  EXPECT_EQ(wrong.verdict, CheckVerdict::kFailed);
  EXPECT_EQ(wrong.worst_index, 1);
  EXPECT_NEAR(wrong.max_abs_error, 0.02, 1e-6);
  EXPECT_NEAR(wrong.max_rel_error, 0.02 / 3, 1e-6);
  EXPECT_THAT(wrong.text(), HasSubstr("element 1 of 3"));
}

TEST(Compare, GrowsItsToleranceWithTheRootOfTheRoundings) {
  Tolerance tolerance;
  tolerance.n = 10000;
  EXPECT_DOUBLE_EQ(tolerance.relative(), 8 * 0x1p-23 * 100);
}

TEST(Compare, DoesNotTrustWhatCouldNotHaveFailed) {
  EXPECT_EQ(compared(graphs::vector({0, 0, 0}), graphs::vector({0, 0, 0})).verdict,
            CheckVerdict::kUntrusted);
  EXPECT_EQ(compared(graphs::vector({7, 7}), graphs::vector({7, 7})).verdict,
            CheckVerdict::kUntrusted);
  Tolerance loose;
  loose.eps = 1;
  EXPECT_EQ(compared(graphs::vector({1, 2}), graphs::vector({1, 2}), loose).verdict,
            CheckVerdict::kUntrusted);
  const Tensor none = Tensor::zeros(DType::kF32, {0});
  EXPECT_EQ(compared(none, none).verdict, CheckVerdict::kUntrusted);
}

TEST(Compare, FailsWhatIsNotANumberOnEitherSide) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compared(graphs::vector({1, 2}), graphs::vector({1, nan})).verdict,
            CheckVerdict::kFailed);
  EXPECT_EQ(compared(graphs::vector({1, nan}), graphs::vector({1, nan})).verdict,
            CheckVerdict::kFailed);
  EXPECT_EQ(compared(graphs::vector({infinity, 1}), graphs::vector({infinity, 1})).worst_index, 0);
}

TEST(Compare, TakesIntegersExactly) {
  const Tensor a = Tensor::vector_i64(std::array<int64_t, 3>{1, 2, 3});
  const Tensor b = Tensor::vector_i64(std::array<int64_t, 3>{1, 2, 4});
  const Tensor c = Tensor::vector_i64(std::array<int64_t, 3>{5, 5, 5});
  EXPECT_EQ(compared(a, a).verdict, CheckVerdict::kPassed);
  EXPECT_EQ(compared(a, b).verdict, CheckVerdict::kFailed);
  EXPECT_EQ(compared(a, b).worst_index, 2);
  EXPECT_EQ(compared(c, c).verdict, CheckVerdict::kUntrusted);
}

TEST(Compare, ReadsSixteenBitTypes) {
  const std::array<uint16_t, 2> a = {f32_to_bf16(1.0F), f32_to_bf16(2.0F)};
  const std::array<uint16_t, 2> b = {f32_to_bf16(1.0F), f32_to_bf16(2.015625F)};
  const Tensor x = Tensor::from<uint16_t>(DType::kBF16, {2}, a);
  const Tensor y = Tensor::from<uint16_t>(DType::kBF16, {2}, b);
  EXPECT_NEAR(compared(x, y).max_abs_error, 0.015625, 1e-9);
}

TEST(Compare, RefusesDifferentShapesAndTypes) {
  const Tensor a = graphs::vector({1, 2});
  EXPECT_FALSE(compare(a.view(), graphs::matrix(1, {1, 2}).view(), {}).ok());
  EXPECT_FALSE(compare(a.view(), Tensor::zeros(DType::kI32, {2}).view(), {}).ok());
  TensorView elsewhere = a.view();
  elsewhere.device = Device{DeviceKind::kCuda, 0};
  EXPECT_EQ(compare(a.view(), elsewhere, {}).error().code, ErrorCode::kUnsupported);
}

TEST(GraphTolerance, CountsTheRoundingsOnTheWay) {
  const auto bound = bind_dimensions(graphs::affine(), {{"batch", 4}});
  ASSERT_TRUE(bound.ok());
  const auto f32 = graph_tolerance(*bound, Precision::kF32);
  ASSERT_TRUE(f32.ok());
  EXPECT_DOUBLE_EQ(f32->n, 2 + 1 + 1);  // two products an element, a sum, a comparison
  const auto bf16 = graph_tolerance(*bound, Precision::kBF16);
  EXPECT_DOUBLE_EQ(bf16->n, 3);
  EXPECT_GT(bf16->eps, f32->eps);
  EXPECT_FALSE(graph_tolerance(graphs::affine(), Precision::kF32).ok());
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "graph/shape.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

const Dim kBatch = Dim::symbol("batch");

std::string broadcast_text(const Shape& a, const Shape& b) {
  const auto shape = broadcast(a, b);
  return shape.ok() ? shape->text() : "error: " + shape.error().message;
}

TEST(Shape, TextNamesWhatIsUnknown) {
  EXPECT_EQ((Shape{kBatch, 3, Dim()}).text(), "[batch, 3, ?]");
  EXPECT_EQ(TensorType(DType::kBF16, Shape()).text(), "bf16[]");
  EXPECT_EQ(TensorType::unranked(DType::kF32).text(), "f32[...]");
}

TEST(Shape, ElementsMultiply) {
  EXPECT_EQ(*(Shape{2, 3, 4}).elements(), 24);
  EXPECT_EQ(*Shape().elements(), 1);
  EXPECT_EQ(*(Shape{0, int64_t{1} << 62, 8}).elements(), 0);
}

TEST(Shape, ElementsOfUnknownOrHugeShapesAreErrors) {
  EXPECT_EQ((Shape{kBatch, 3}).elements().error().code, ErrorCode::kUnsupported);
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40}).elements().error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(TensorType(DType::kF64, Shape{int64_t{1} << 61}).bytes().error().code,
            ErrorCode::kInvalid);
}

TEST(Shape, BytesAreTheSumOfElementSizes) {
  // User report U078: sizes of mixed types are the sum of their own element sizes.
  const int64_t f32 = *TensorType(DType::kF32, Shape{2, 10}).bytes();
  const int64_t f64 = *TensorType(DType::kF64, Shape{10}).bytes();
  const int64_t i32 = *TensorType(DType::kI32, Shape{10}).bytes();
  EXPECT_EQ(f32 + f64 + i32, 200);
}

TEST(Broadcast, FollowsNumPy) {
  EXPECT_EQ(broadcast_text({2, 3, 4}, {4}), "[2, 3, 4]");
  EXPECT_EQ(broadcast_text({8}, {2, 8}), "[2, 8]");
  EXPECT_EQ(broadcast_text({2, 1, 4}, {3, 1}), "[2, 3, 4]");
  EXPECT_EQ(broadcast_text({}, {5}), "[5]");
  EXPECT_EQ(broadcast_text({0}, {1}), "[0]");
}

TEST(Broadcast, KeepsSymbolsWhereItCan) {
  EXPECT_EQ(broadcast_text({kBatch, 3}, {3}), "[batch, 3]");
  EXPECT_EQ(broadcast_text({kBatch, 3}, {1, 3}), "[batch, 3]");
  EXPECT_EQ(broadcast_text({kBatch}, {kBatch}), "[batch]");
  EXPECT_EQ(broadcast_text({kBatch}, {Dim::symbol("length")}), "[?]");
  EXPECT_EQ(broadcast_text({kBatch}, {7}), "[7]");
}

TEST(Broadcast, RefusesByNamingBothShapes) {
  EXPECT_EQ(broadcast_text({3, 4}, {3}),
            "error: shapes [3, 4] and [3] cannot be broadcast together");
}

}  // namespace
}  // namespace assay

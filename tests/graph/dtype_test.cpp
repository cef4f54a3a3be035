// SPDX-License-Identifier: Apache-2.0
#include "graph/dtype.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr DType kAll[] = {DType::kF32,    DType::kF64,     DType::kF16, DType::kBF16, DType::kI8,
                          DType::kU8,     DType::kI16,     DType::kU16, DType::kI32,  DType::kU32,
                          DType::kI64,    DType::kU64,     DType::kI4,  DType::kBool, DType::kU4,
                          DType::kF8E5M2, DType::kF8E4M3FN};

TEST(DType, NamesAndOnnxNumbersReadBack) {
  for (const DType dtype : kAll) {
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
    EXPECT_EQ(dtype_from_onnx(dtype_to_onnx(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_name("f128"), std::nullopt);
  EXPECT_EQ(dtype_from_onnx(8), std::nullopt);  // STRING
}

TEST(DType, OnnxNumbersAreTheStandards) {
  EXPECT_EQ(dtype_to_onnx(DType::kF32), 1);
  EXPECT_EQ(dtype_to_onnx(DType::kI64), 7);
  EXPECT_EQ(dtype_to_onnx(DType::kBool), 9);
  EXPECT_EQ(dtype_to_onnx(DType::kF16), 10);
  EXPECT_EQ(dtype_to_onnx(DType::kBF16), 16);
}

TEST(DType, FourBitTypesPackAndRoundUp) {
  EXPECT_EQ(storage_bytes(DType::kI4, 4), 2);
  EXPECT_EQ(storage_bytes(DType::kU4, 5), 3);
  EXPECT_EQ(storage_bytes(DType::kF64, 3), 24);
}

TEST(HalfConversion, EveryF16ReadsBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
    } else {
      ASSERT_EQ(f32_to_f16(value), half);
    }
  }
}

TEST(HalfConversion, EveryBF16ReadsBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = bf16_to_f32(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(value))));
    } else {
      ASSERT_EQ(f32_to_bf16(value), half);
    }
  }
}

TEST(HalfConversion, TiesGoToEven) {
  EXPECT_EQ(f32_to_bf16(1.0f + 0x1p-8f), 0x3f80);  // between 1 and 1 + 2^-7
  EXPECT_EQ(f32_to_bf16(1.0f + 0x3p-8f), 0x3f82);  // between 1 + 2^-7 and 1 + 2^-6
  EXPECT_EQ(f32_to_f16(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(f32_to_f16(1.0f + 0x3p-11f), 0x3c02);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);  // half of the smallest subnormal
  EXPECT_EQ(f32_to_f16(0x3p-25f), 0x0002);
}

TEST(HalfConversion, LargeValuesBecomeInfinite) {
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xfc00);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_bf16(-std::numeric_limits<float>::infinity()), 0xff80);
}

TEST(Float8Conversion, IsExactForEveryCode) {
  for (const DType format :
       {DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ}) {
    int nans = 0;
    for (uint32_t bits = 0; bits < 256; ++bits) {
      const auto code = static_cast<uint8_t>(bits);
      const float value = f8_to_f32(format, code);
      nans += std::isnan(value) ? 1 : 0;
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(f8_to_f32(format, f32_to_f8(format, value, true))));
      } else {
        EXPECT_EQ(f32_to_f8(format, value, false), code) << dtype_name(format);
      }
    }
    EXPECT_EQ(nans, format == DType::kF8E4M3FN ? 2 : format == DType::kF8E5M2 ? 6 : 1);
  }
}

// The largest numbers of the two papers.
TEST(Float8Conversion, SaturatesOrOverflows) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto through = [](DType format, float value, bool saturate) {
    return f8_to_f32(format, f32_to_f8(format, value, saturate));
  };
  EXPECT_EQ(through(DType::kF8E4M3FN, 1e9f, true), 448);
  EXPECT_EQ(through(DType::kF8E4M3FNUZ, kInfinity, true), 240);
  EXPECT_EQ(through(DType::kF8E5M2, -1e9f, true), -57344);
  EXPECT_EQ(through(DType::kF8E5M2FNUZ, 1e9f, true), 57344);
  EXPECT_EQ(through(DType::kF8E5M2, -1e9f, false), -kInfinity);
  EXPECT_TRUE(std::isnan(through(DType::kF8E4M3FN, 1e9f, false)));
  EXPECT_TRUE(std::isnan(through(DType::kF8E5M2FNUZ, kInfinity, false)));
  EXPECT_EQ(f32_to_f8(DType::kF8E4M3FNUZ, -0.0f, true), 0);  // it has no negative zero
}

TEST(Float8Conversion, TiesGoToEven) {
  EXPECT_EQ(f32_to_f8(DType::kF8E4M3FN, 1.0625f, true), 0x38);  // between 1 and 1.125
  EXPECT_EQ(f32_to_f8(DType::kF8E4M3FN, 1.1875f, true), 0x3a);  // between 1.125 and 1.25
  EXPECT_EQ(f32_to_f8(DType::kF8E4M3FN, 464.0f, false), 0x7e);  // 448 is even
  EXPECT_EQ(f32_to_f8(DType::kF8E5M2, 0x1p-17f, true), 0x00);   // half of the smallest subnormal
}

}  // namespace
}  // namespace assay

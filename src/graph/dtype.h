// SPDX-License-Identifier: Apache-2.0
//
// Element types, with ONNX's names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class DType : uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool,
  kI4,
  kU4,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
};

std::string_view dtype_name(DType dtype);  // "f32", "bf16", "i64", "bool"
std::optional<DType> dtype_from_name(std::string_view name);
// TensorProto.DataType's numbers (FLOAT is 1), which the attribute `to` of Cast holds.
int64_t dtype_to_onnx(DType dtype);
std::optional<DType> dtype_from_onnx(int64_t number);
int dtype_bits(DType dtype);  // 4 for i4 and u4, 8 for bool
bool is_floating(DType dtype);
bool is_integer(DType dtype);  // bool is not

// Bytes that `count` elements take when packed; 4-bit types round up.
int64_t storage_bytes(DType dtype, int64_t count);

// Round-to-nearest-even conversions; NaN stays NaN.
uint16_t f32_to_bf16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float f16_to_f32(uint16_t bits);

// The four 8-bit formats (Micikevicius et al. 2022, "FP8 formats for deep learning"; the FNUZ ones
// Noune et al. 2022). What is too large, infinity too, becomes the largest number if `saturate`,
// else infinity where the format has one and NaN where it has none.
uint8_t f32_to_f8(DType format, float value, bool saturate);
float f8_to_f32(DType format, uint8_t bits);

}  // namespace assay

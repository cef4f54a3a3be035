// SPDX-License-Identifier: Apache-2.0
#include "graph/dtype.h"

#include <array>
#include <bit>
#include <cmath>

namespace assay {
namespace {

struct Entry {
  std::string_view name;
  int bits;
  bool floating;
  bool integer;
};

// In the order of the enumerators.
constexpr std::array<Entry, 19> kTypes{{
    {"f32", 32, true, false},       {"f64", 64, true, false},       {"f16", 16, true, false},
    {"bf16", 16, true, false},      {"i8", 8, false, true},         {"u8", 8, false, true},
    {"i16", 16, false, true},       {"u16", 16, false, true},       {"i32", 32, false, true},
    {"u32", 32, false, true},       {"i64", 64, false, true},       {"u64", 64, false, true},
    {"bool", 8, false, false},      {"i4", 4, false, true},         {"u4", 4, false, true},
    {"f8e4m3fn", 8, true, false},   {"f8e4m3fnuz", 8, true, false}, {"f8e5m2", 8, true, false},
    {"f8e5m2fnuz", 8, true, false},
}};

const Entry& entry(DType dtype) { return kTypes[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view dtype_name(DType dtype) { return entry(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

namespace {

// TensorProto.DataType of onnx.proto, in the order of the enumerators.
constexpr std::array<int64_t, 19> kOnnxNumbers{1, 11, 10, 16, 3,  2,  5,  4,  6, 12,
                                               7, 13, 9,  22, 21, 17, 18, 19, 20};

}  // namespace

int64_t dtype_to_onnx(DType dtype) { return kOnnxNumbers[static_cast<size_t>(dtype)]; }

std::optional<DType> dtype_from_onnx(int64_t number) {
  for (size_t i = 0; i < kOnnxNumbers.size(); ++i) {
    if (kOnnxNumbers[i] == number) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int dtype_bits(DType dtype) { return entry(dtype).bits; }
bool is_floating(DType dtype) { return entry(dtype).floating; }
bool is_integer(DType dtype) { return entry(dtype).integer; }

int64_t storage_bytes(DType dtype, int64_t count) {
  const int bits = dtype_bits(dtype);
  return bits >= 8 ? count * (bits / 8) : count / 2 + count % 2;
}

uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint32_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  }
  // 65520 and above round to infinity.
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Subnormal: adding 0.5 aligns the last kept bit with the last bit of a float's mantissa, so
    // the addition itself rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "graph/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

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

namespace {

struct Float8 {
  int mantissa_bits;
  int bias;
  uint32_t largest;    // the code of the largest number
  uint32_t overflow;   // what larger ones become without saturation
  uint32_t nan;        // with the sign bit where the format has a signed zero
  bool negative_zero;  // and signed NaN
};

constexpr Float8 float8(DType format) {
  switch (format) {
    case DType::kF8E4M3FN:
      return {3, 7, 0x7e, 0x7f, 0x7f, true};
    case DType::kF8E4M3FNUZ:
      return {3, 8, 0x7f, 0x80, 0x80, false};
    case DType::kF8E5M2:
      return {2, 15, 0x7b, 0x7c, 0x7f, true};
    default:
      return {2, 16, 0x7f, 0x80, 0x80, false};
  }
}

}  // namespace

uint8_t f32_to_f8(DType format, float value, bool saturate) {
  const Float8 f = float8(format);
  const uint32_t sign = std::signbit(value) ? 0x80u : 0u;
  if (std::isnan(value)) return static_cast<uint8_t>(f.negative_zero ? f.nan | sign : f.nan);
  uint32_t code = f.largest + 1;
  if (!std::isinf(value)) {
    // In units of the last place, rounded; a carry moves the exponent on by itself.
    const int lowest = 1 - f.bias;
    const int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
    const float units = std::nearbyint(std::ldexp(std::abs(value), f.mantissa_bits - exponent));
    const auto count = static_cast<uint32_t>(units);
    code = count + (static_cast<uint32_t>(exponent - lowest) << f.mantissa_bits);
  }
  if (code > f.largest) code = saturate ? f.largest : f.overflow;
  if (!f.negative_zero && (code == 0 || code == f.nan)) return static_cast<uint8_t>(code);
  return static_cast<uint8_t>(code | sign);
}

float f8_to_f32(DType format, uint8_t bits) {
  const Float8 f = float8(format);
  const uint32_t code = bits & 0x7fu;
  const float sign = (bits & 0x80u) != 0 ? -1.0f : 1.0f;
  const bool nan =
      f.negative_zero ? code > f.largest && (code != f.overflow || code == f.nan) : bits == f.nan;
  if (nan) return std::numeric_limits<float>::quiet_NaN();
  if (code > f.largest) return sign * std::numeric_limits<float>::infinity();
  const auto exponent = static_cast<int>(code >> f.mantissa_bits);
  const auto mantissa = static_cast<int>(code & ((1u << f.mantissa_bits) - 1u));
  const int hidden = exponent == 0 ? 0 : 1 << f.mantissa_bits;
  const int shift = std::max(exponent, 1) - f.bias - f.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(mantissa + hidden), shift);
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "record/samples_codec.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"

namespace assay {
namespace {

std::vector<uint64_t> bits_of(const std::vector<double>& values) {
  std::vector<uint64_t> bits;
  bits.reserve(values.size());
  for (const double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

void expect_round_trip(const std::vector<double>& values) {
  const auto back = decode_samples(encode_samples(values), static_cast<int64_t>(values.size()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(bits_of(*back), bits_of(values));
}

TEST(SamplesCodec, KeepsEveryBit) {
  expect_round_trip({});
  expect_round_trip({0.0});
  expect_round_trip({0.0, -0.0, 1.0 / 3, std::numeric_limits<double>::denorm_min(),
                     std::numeric_limits<double>::infinity(), -1e308,
                     std::bit_cast<double>(uint64_t{0x7ff8000000000123}),
                     std::bit_cast<double>(uint64_t{0xfff0000000000001})});
  RandomStream random{RandomKey(5)};
  std::vector<double> anything(5000);
  for (double& value : anything) value = std::bit_cast<double>(random.next_u64());
  expect_round_trip(anything);
}

TEST(SamplesCodec, IsSmallForStepTimes) {
  RandomStream random{RandomKey(6)};
  std::vector<double> times(10000);
  for (double& time : times) time = std::round(2.5e7 * std::exp(0.02 * random.normal()));
  EXPECT_LT(encode_samples(times).size(), 4 * times.size());
  expect_round_trip(times);
  EXPECT_LT(encode_samples(std::vector<double>(10000, 1.5)).size(), 500U);
}

TEST(SamplesCodec, RefusesDamage) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::string bytes = encode_samples(values);
  const auto code = [](std::string_view damaged, int64_t count) {
    const auto result = decode_samples(damaged, count);
    return result.ok() ? ErrorCode::kInternal : result.error().code;
  };
  EXPECT_EQ(code(bytes, 7), ErrorCode::kCorrupt);
  EXPECT_EQ(code(bytes, 9), ErrorCode::kCorrupt);
  EXPECT_EQ(code(bytes, -1), ErrorCode::kCorrupt);
  EXPECT_EQ(code(bytes, int64_t{1} << 60), ErrorCode::kCorrupt);
  EXPECT_EQ(code(bytes + "x", 8), ErrorCode::kCorrupt);
  EXPECT_EQ(code(bytes.substr(0, bytes.size() - 1), 8), ErrorCode::kCorrupt);
  EXPECT_EQ(code("", 0), ErrorCode::kCorrupt);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    EXPECT_EQ(code(damaged, 8), ErrorCode::kCorrupt) << "byte " << i;
  }
}

}  // namespace
}  // namespace assay

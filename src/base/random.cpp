// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay {
namespace {

// The constants of the paper: two multipliers, and the Weyl increments of the key (golden ratio and
// square root of three minus one).
constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

// The third word of the counter keeps streams, derived names and derived numbers apart.
constexpr uint32_t kStreamDomain = 0;
constexpr uint32_t kNumberDomain = 0x6E756D62;
constexpr uint32_t kNameDomain = 0x6E616D65;

constexpr uint32_t low_word(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high_word(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

RandomKey derived(uint64_t key, uint64_t value, uint32_t domain) {
  const auto block = philox4x32(key, {low_word(value), high_word(value), domain, 0});
  return RandomKey(uint64_t{block[1]} << 32 | block[0]);
}

// FNV-1a, 64 bits.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3;
  }
  return hash;
}

}  // namespace

std::array<uint32_t, 4> philox4x32(uint64_t key, std::array<uint32_t, 4> counter) {
  uint32_t key0 = low_word(key);
  uint32_t key1 = high_word(key);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {high_word(product1) ^ counter[1] ^ key0, low_word(product1),
               high_word(product0) ^ counter[3] ^ key1, low_word(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

RandomKey RandomKey::derive(std::string_view name) const {
  return derived(value_, hash_of(name), kNameDomain);
}

RandomKey RandomKey::derive(uint64_t number) const {
  return derived(value_, number, kNumberDomain);
}

uint32_t RandomStream::next_u32() {
  if (used_ == 4) {
    buffer_ = philox4x32(key_.value(), {low_word(block_), high_word(block_), kStreamDomain, 0});
    ++block_;
    used_ = 0;
  }
  return buffer_[static_cast<size_t>(used_++)];
}

uint64_t RandomStream::next_u64() {
  const uint64_t low = next_u32();
  return uint64_t{next_u32()} << 32 | low;
}

double RandomStream::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

double RandomStream::uniform(double low, double high) {
  const double value = low + (high - low) * uniform();
  // Rounding may reach the excluded end.
  return value < high ? value : low;
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // of a number in (0, 1]
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

uint64_t RandomStream::below(uint64_t bound) {
  ASSAY_ASSERT(bound > 0, "below() needs a positive bound");
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next_u64()} * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < threshold) product = Wide{next_u64()} * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

bool RandomStream::bernoulli(double probability) { return uniform() < probability; }

}  // namespace assay

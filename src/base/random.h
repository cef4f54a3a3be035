// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A draw is a pure function of (key, counter), so every engine and thread that
// knows the key draws the same numbers, in any order. Known answers of the authors' Random123
// library are tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace assay {

// The 128-bit output of Philox4x32-10 for one 64-bit key and 128-bit counter.
std::array<uint32_t, 4> philox4x32(uint64_t key, std::array<uint32_t, 4> counter);

// A key names a stream. Keys derived with different names or numbers are independent streams.
class RandomKey {
 public:
  explicit constexpr RandomKey(uint64_t value) : value_(value) {}
  constexpr uint64_t value() const { return value_; }
  RandomKey derive(std::string_view name) const;
  RandomKey derive(uint64_t number) const;
  bool operator==(const RandomKey&) const = default;

 private:
  uint64_t value_;
};

// Sequential draws from one key. Copyable: a copy continues from the same point. Not thread-safe.
class RandomStream {
 public:
  explicit RandomStream(RandomKey key, uint64_t first_block = 0) : key_(key), block_(first_block) {}

  uint32_t next_u32();
  uint64_t next_u64();
  double uniform();                         // [0, 1), 53 bits
  double uniform(double low, double high);  // [low, high)
  double normal();                          // mean 0, variance 1 (Box-Muller)
  uint64_t below(uint64_t bound);      // 0 ... bound-1, unbiased (Lemire's rejection); bound > 0
  bool bernoulli(double probability);  // true with that probability
  template <class T>
  void shuffle(std::span<T> items) {  // Fisher-Yates
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  RandomKey key_;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> buffer_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace assay

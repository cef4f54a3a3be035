// SPDX-License-Identifier: Apache-2.0
//
// Draws: the random numbers that MLPerf's load generator is defined by, so that a seed gives its
// schedule. The generator is mt19937 (Matsumoto and Nishimura, 1998) seeded with the low 32 bits;
// what is made of its numbers is what GNU's C++ library makes of them, written out here because
// the standard leaves that open: bounded integers by Lemire's multiplication (ACM TOMACS 29, 2019),
// reals from two numbers, shuffles two swaps a number. Nanoseconds a draw. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "base/clock.h"

namespace assay {

class Draws {
 public:
  explicit Draws(uint64_t seed) : engine_(static_cast<uint32_t>(seed)) {}

  uint32_t below(uint32_t bound);  // 0 ... bound-1; bound > 0
  double real();                   // [0, 1)
  // The time to the next arrival of a Poisson process, cut to whole nanoseconds; rate > 0.
  Nanoseconds arrival_gap(double rate_per_s);
  void shuffle(std::span<uint32_t> items);

 private:
  std::mt19937 engine_;
};

}  // namespace assay

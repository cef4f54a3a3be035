// SPDX-License-Identifier: Apache-2.0
//
// Quantities that carry their unit in the type. Time is std::chrono (base/clock.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace assay {

// A count of bytes. One unit: 1 KiB = 1024 bytes; text says MiB when it means MiB.
struct Bytes {
  int64_t count = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes other) const { return {count + other.count}; }
  constexpr Bytes operator-(Bytes other) const { return {count - other.count}; }
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
};

// A count of floating-point operations; a multiply-add is two.
struct Flops {
  double count = 0;
  constexpr auto operator<=>(const Flops&) const = default;
  constexpr Flops operator+(Flops other) const { return {count + other.count}; }
  constexpr Flops& operator+=(Flops other) {
    count += other.count;
    return *this;
  }
};

std::string human_bytes(Bytes bytes);       // "97.5 MiB"
std::string human_count(double count);      // "4.09 G"
std::string human_seconds(double seconds);  // "1.23 ms", "2 min 05 s"

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "serve/draws.h"

#include <cmath>
#include <utility>

namespace assay {

uint32_t Draws::below(uint32_t bound) {
  uint64_t product = uint64_t{engine_()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0U - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{engine_()} * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

double Draws::real() {
  const auto low = static_cast<double>(engine_());
  const double sum = low + 4294967296.0 * static_cast<double>(engine_());
  const double value = sum / 18446744073709551616.0;
  return value < 1 ? value : std::nextafter(1.0, 0.0);
}

Nanoseconds Draws::arrival_gap(double rate_per_s) {
  const Seconds gap(-std::log(1.0 - real()) / rate_per_s);
  return std::chrono::duration_cast<Nanoseconds>(gap);
}

void Draws::shuffle(std::span<uint32_t> items) {
  const size_t count = items.size();
  size_t next = 1;
  if (count <= 65535) {  // the square of the count fits into one number: two swaps from one draw
    if (count % 2 == 0 && count > 0) std::swap(items[next++], items[below(2)]);
    while (next < count) {
      const auto first_choices = static_cast<uint32_t>(next + 1);
      const uint32_t second_choices = first_choices + 1;
      const uint32_t both = below(first_choices * second_choices);
      std::swap(items[next++], items[both / second_choices]);
      std::swap(items[next++], items[both % second_choices]);
    }
    return;
  }
  for (; next < count; ++next) {
    std::swap(items[next], items[below(static_cast<uint32_t>(next + 1))]);
  }
}

}  // namespace assay

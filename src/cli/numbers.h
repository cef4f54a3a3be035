// SPDX-License-Identifier: Apache-2.0
//
// Which numbers an option takes. Checked when the command line is read, so that no command has to
// wonder what a batch of -3 or 1e99 seconds might mean. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cli {

enum class NumberKind : unsigned char {
  kWhole,
  kSeed,    // any 64-bit key
  kDecimal  // its lower limit of 0 does not belong to it
};

struct NumberRule {
  NumberKind kind = NumberKind::kWhole;
  double low = 0;
  double high = 0;
};

NumberRule whole(int64_t low, int64_t high = INT32_MAX);
NumberRule above_zero(double high = 1e9);
NumberRule any_seed();
// What a case key takes from a user, who cannot type the 0 that stands for "the usual" in a case:
// that is said by leaving the option out.
NumberRule rule_of_case_key(std::string_view key);

bool allows(const NumberRule& rule, std::string_view text);
// "a whole number from 1 to 2147483647", "a number above 0".
std::string wanted_text(const NumberRule& rule);

}  // namespace assay::cli

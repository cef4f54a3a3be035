// SPDX-License-Identifier: Apache-2.0
//
// Sweep: lists of values by case key; it expands to the product, in an order shuffled by a seed, so
// that slow drifts of the machine do not line up with an axis. All functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/case.h"

namespace assay {

// "1,4,16" -> three values; for number keys also "1-8" (every whole number) and "1024-1048576*2"
// (each the double of the last). Text values may hold '-' and are split at commas only. kInvalid
// names what is wrong; a list of more than 100,000 values is.
Result<std::vector<std::string>> expand_values(std::string_view text, CaseValueType type);

struct Sweep {
  // Key and its values, in the order given; the first varies slowest before shuffling. Keys are
  // those of a case, "set.*" included.
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;

  // Replaces an axis of the same key.
  void set(std::string_view key, std::vector<std::string> values);
};

// The product, each case once.
Result<std::vector<Case>> expand(const Sweep& sweep);

// The same order for the same seed, everywhere.
void shuffle_cases(std::vector<Case>& cases, uint64_t order_seed);

// The type of a case key, "set.*" being text; kInvalid with the nearest name for an unknown key.
Result<CaseValueType> case_key_type(std::string_view key);

}  // namespace assay

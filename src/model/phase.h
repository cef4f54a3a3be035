// SPDX-License-Identifier: Apache-2.0
//
// Which form of a network is wanted.
#pragma once

#include <cstdint>

namespace assay {

enum class Phase : uint8_t {
  kInference,  // inputs to predictions, statistics fixed
  kTraining,   // inputs and labels to the scalar loss (output 0) and predictions
};

}  // namespace assay

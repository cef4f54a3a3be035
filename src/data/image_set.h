// SPDX-License-Identifier: Apache-2.0
//
// ImageSet: labelled 8-bit images of one size in memory, usually a memory map. A view with a shared
// owner: cheap to copy, safe to read from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace assay {

enum class Split : uint8_t { kTraining, kEvaluation };

struct ImageSet {
  int64_t count = 0;
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t classes = 0;
  std::span<const uint8_t> pixels;  // count x channels x height x width
  std::span<const uint8_t> labels;  // count, each below classes
  std::shared_ptr<const void> owner;

  int64_t image_bytes() const { return channels * height * width; }
};

}  // namespace assay

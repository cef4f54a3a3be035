// SPDX-License-Identifier: Apache-2.0
//
// Resizing with a triangle filter (bilinear) that widens with the scale when shrinking, in f32: the
// definition of Pillow and of torch's interpolate(antialias=True), without Pillow's rounding to 8
// bits between the two passes. Two separable passes; only the rows and columns asked for are
// computed. Not thread-safe: a Resampler keeps its buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "data/image_decoder.h"

namespace assay {

// Rows and columns of an image.
struct Box {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

class Resampler {
 public:
  // Resizes the part `from` of the image to height x width and returns the part `window` of that:
  // window.height x window.width x 3, values 0 to 255. Valid until the next call. The boxes must
  // lie inside what they cut.
  const std::vector<float>& resize(const Image& image, const Box& from, int64_t height,
                                   int64_t width, const Box& window);

 private:
  // The sources of one output row or column.
  struct Tap {
    int64_t first;
    int64_t count;
    int64_t weights;  // index into weights_
  };
  struct Axis {
    std::vector<Tap> taps;
    std::vector<float> weights;
  };
  static void make_axis(int64_t from, int64_t to, int64_t first, int64_t count, Axis& axis);

  Axis rows_;
  Axis columns_;
  std::vector<float> narrow_;  // after the horizontal pass
  std::vector<float> result_;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/resample.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay {

void Resampler::make_axis(int64_t from, int64_t to, int64_t first, int64_t count, Axis& axis) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(scale, 1.0);
  axis.taps.clear();
  axis.weights.clear();
  for (int64_t i = first; i < first + count; ++i) {
    const double centre = scale * (static_cast<double>(i) + 0.5);
    const auto begin = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
    const auto end = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), from);
    axis.taps.push_back({begin, end - begin, static_cast<int64_t>(axis.weights.size())});
    double total = 0;
    for (int64_t s = begin; s < end; ++s) {
      const double distance = std::abs((static_cast<double>(s) - centre + 0.5) / support);
      total += std::max(0.0, 1 - distance);
    }
    for (int64_t s = begin; s < end; ++s) {
      const double distance = std::abs((static_cast<double>(s) - centre + 0.5) / support);
      axis.weights.push_back(static_cast<float>(std::max(0.0, 1 - distance) / total));
    }
  }
}

const std::vector<float>& Resampler::resize(const Image& image, const Box& from, int64_t height,
                                            int64_t width, const Box& window) {
  ASSAY_ASSERT(from.top >= 0 && from.left >= 0 && from.height > 0 && from.width > 0 &&
                   from.top + from.height <= image.height && from.left + from.width <= image.width,
               "the source box leaves the image");
  ASSAY_ASSERT(window.top >= 0 && window.left >= 0 && window.height > 0 && window.width > 0 &&
                   window.top + window.height <= height && window.left + window.width <= width,
               "the window leaves the resized image");
  make_axis(from.height, height, window.top, window.height, rows_);
  make_axis(from.width, width, window.left, window.width, columns_);

  const int64_t first_row = rows_.taps.front().first;
  const int64_t last_row = rows_.taps.back().first + rows_.taps.back().count;
  const int64_t stride = window.width * 3;
  narrow_.resize(static_cast<size_t>((last_row - first_row) * stride));
  for (int64_t y = first_row; y < last_row; ++y) {
    const uint8_t* source = image.pixels.data() + ((from.top + y) * image.width + from.left) * 3;
    float* target = narrow_.data() + (y - first_row) * stride;
    for (const Tap& tap : columns_.taps) {
      float sum[3] = {0, 0, 0};
      for (int64_t k = 0; k < tap.count; ++k) {
        const float weight = columns_.weights[static_cast<size_t>(tap.weights + k)];
        const uint8_t* pixel = source + (tap.first + k) * 3;
        for (int c = 0; c < 3; ++c) sum[c] += weight * static_cast<float>(pixel[c]);
      }
      target = std::copy(sum, sum + 3, target);
    }
  }

  result_.assign(static_cast<size_t>(window.height * stride), 0);
  for (int64_t y = 0; y < window.height; ++y) {
    const Tap& tap = rows_.taps[static_cast<size_t>(y)];
    float* target = result_.data() + y * stride;
    for (int64_t k = 0; k < tap.count; ++k) {
      const float weight = rows_.weights[static_cast<size_t>(tap.weights + k)];
      const float* source = narrow_.data() + (tap.first + k - first_row) * stride;
      for (int64_t x = 0; x < stride; ++x) target[x] += weight * source[x];
    }
  }
  return result_;
}

}  // namespace assay

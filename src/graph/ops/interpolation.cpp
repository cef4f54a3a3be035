// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/interpolation.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// Where output position `y` lies on the input axis.
double source_position(const InterpolationMode& mode, const AxisMap& map, int64_t y) {
  const auto at = static_cast<double>(y);
  const auto input = static_cast<double>(map.input);
  const double resized = map.scale * input;  // the output's size before rounding
  const std::string& how = mode.transformation;
  const double half_pixel = (at + 0.5) / map.scale - 0.5;
  if (how == "asymmetric") return at / map.scale;
  if (how == "tf_half_pixel_for_nn") return (at + 0.5) / map.scale;
  if (how == "align_corners") return resized == 1 ? 0 : at * (input - 1) / (resized - 1);
  if (how == "pytorch_half_pixel") return resized > 1 ? half_pixel : 0;
  if (how == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(map.output) / resized;
    return input / 2 * (1 - adjustment) + half_pixel;
  }
  if (how == "tf_crop_and_resize") {
    const double length = map.roi_end - map.roi_begin;
    const double start = map.roi_begin * (input - 1);
    if (resized <= 1) return 0.5 * (map.roi_begin + map.roi_end) * (input - 1);
    return start + at * length * (input - 1) / (resized - 1);
  }
  return half_pixel;
}

double nearest_index(const std::string& rounding, double at) {
  if (rounding == "floor") return std::floor(at);
  if (rounding == "ceil") return std::ceil(at);
  if (rounding == "round_prefer_ceil") return std::floor(at + 0.5);
  return std::ceil(at - 0.5);
}

int64_t clamped(double index, int64_t size) {
  return static_cast<int64_t>(std::clamp(index, 0.0, static_cast<double>(size - 1)));
}

// A downscaled axis is filtered with a kernel stretched by 1 / scale when antialiasing.
double stretch(const InterpolationMode& mode, double scale) {
  return mode.antialias ? std::min(scale, 1.0) : 1.0;
}

std::vector<AxisWeight> filtered(const InterpolationMode& mode, const AxisMap& map, double at) {
  const double factor = stretch(mode, map.scale);
  const double reach = support(mode, map.scale);
  std::vector<AxisWeight> weights;
  double sum = 0;
  for (double i = std::ceil(at - reach); i <= std::floor(at + reach); ++i) {
    const double distance = std::abs(i - at) * factor;
    const double weight =
        mode.mode == "cubic" ? cubic_weight(distance, mode.cubic) : std::max(0.0, 1 - distance);
    const bool outside = i < 0 || i > static_cast<double>(map.input - 1);
    if (weight == 0 || (outside && mode.exclude_outside)) continue;
    weights.push_back({clamped(i, map.input), weight});
    sum += weight;
  }
  if (weights.empty()) return {{clamped(at, map.input), 1}};
  for (AxisWeight& weight : weights) weight.weight /= sum;
  return weights;
}

}  // namespace

InterpolationMode InterpolationMode::of(const Attributes& attributes) {
  return {attributes.string("mode"),
          attributes.string("coordinate_transformation_mode"),
          attributes.string("nearest_mode"),
          static_cast<double>(attributes.number("cubic_coeff_a")),
          attributes.integer("antialias") != 0,
          attributes.integer("exclude_outside") != 0};
}

double cubic_weight(double x, double a) {
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

double support(const InterpolationMode& mode, double scale) {
  if (mode.mode == "nearest") return 0;
  return (mode.mode == "cubic" ? 2 : 1) / stretch(mode, scale);
}

std::vector<AxisSample> axis_samples(const InterpolationMode& mode, const AxisMap& map) {
  std::vector<AxisSample> samples(static_cast<size_t>(map.output));
  if (map.input == 0) return {};
  for (int64_t y = 0; y < map.output; ++y) {
    AxisSample& sample = samples[static_cast<size_t>(y)];
    const double at = source_position(mode, map, y);
    sample.outside = mode.transformation == "tf_crop_and_resize" &&
                     !(at >= 0 && at <= static_cast<double>(map.input - 1));
    if (sample.outside) continue;
    if (mode.mode == "nearest") {
      sample.weights = {{clamped(nearest_index(mode.rounding, at), map.input), 1}};
    } else {
      sample.weights = filtered(mode, map, at);
    }
  }
  return samples;
}

}  // namespace assay

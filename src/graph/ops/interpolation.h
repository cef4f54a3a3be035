// SPDX-License-Identifier: Apache-2.0
//
// Which elements of an axis make up one output element, and their weights: what Resize does along
// each axis, since all its modes are separable. Source: ONNX operator Resize 19.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attribute.h"

namespace assay {

struct AxisWeight {
  int64_t index = 0;
  double weight = 0;
};

// One output position: the weighted elements, or the extrapolation value.
struct AxisSample {
  std::vector<AxisWeight> weights;
  bool outside = false;
};

// How one axis is mapped.
struct AxisMap {
  int64_t input = 1;
  int64_t output = 1;
  double scale = 1;
  double roi_begin = 0;  // for tf_crop_and_resize, in parts of the axis
  double roi_end = 1;
};

struct InterpolationMode {
  std::string mode;            // nearest, linear, cubic
  std::string transformation;  // coordinate_transformation_mode
  std::string rounding;        // nearest_mode
  double cubic = -0.75;        // cubic_coeff_a
  bool antialias = false;
  bool exclude_outside = false;

  static InterpolationMode of(const Attributes& attributes);
};

// Weights sum to 1. Empty when the axis has no elements.
std::vector<AxisSample> axis_samples(const InterpolationMode& mode, const AxisMap& map);

// Elements on each side of a position that have a weight, before clamping; 0 for nearest.
double support(const InterpolationMode& mode, double scale);

// Keys' cubic convolution kernel at distance x, zero from 2 on.
double cubic_weight(double x, double a);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows: what convolutions and poolings share (kernel_shape, strides, pads, dilations,
// auto_pad, ceil_mode). Source of the output sizes: ONNX operators Conv 11 and MaxPool 12.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ops/infer.h"

namespace assay {

// One spatial axis, resolved.
struct WindowAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
  int64_t output = 1;
};

// The attributes, complete for `rank` spatial axes and in bounds.
struct WindowAttributes {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // all begins, then all ends
  std::string auto_pad;
  bool ceil_mode = false;
};

// The attribute specs that convolutions and poolings have in common.
std::vector<AttributeSpec> window_specs(bool kernel_required);

// Reads and checks; `kernel` empty: taken from the attribute kernel_shape.
Result<WindowAttributes> window_attributes(const Attributes& attributes, size_t rank,
                                           std::vector<int64_t> kernel);
// The output size of one axis, and a full resolution of it.
Result<Dim> window_output(const WindowAttributes& window, size_t axis, const Dim& input);
Result<WindowAxis> resolve_axis(const WindowAttributes& window, size_t axis, int64_t input);

// All spatial axes of a packed [N, C, ...] tensor; fewer than three are completed with axes of
// size 1 in front, so that kernels are written once for three.
Result<std::vector<WindowAxis>> resolve_window(const Attributes& attributes,
                                               const std::vector<int64_t>& input_shape,
                                               std::vector<int64_t> kernel);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The window attributes that convolutions and pools share, decoded once: kernel, strides, dilations
// and pads, with ONNX's auto_pad resolved from the known shape.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "engines/torch/lowering.h"

namespace assay::torch_engine {

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;   // symmetric part, one an axis
  std::vector<int64_t> extra;  // at::constant_pad_nd's pads, last axis first; empty: none
  bool padded() const { return !extra.empty(); }
};

// `kernel` has one entry a spatial axis; the input is [N, C, spatial ...].
Result<Window> decode_window(const Lowering& lowering, std::vector<int64_t> kernel);

}  // namespace assay::torch_engine

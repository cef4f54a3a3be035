// SPDX-License-Identifier: Apache-2.0
//
// How poolings and their gradients walk over windows.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ops/loops.h"
#include "graph/ops/window.h"

namespace assay {

// Calls f(offset) for every element of the input plane that the window at `out` covers; returns
// the number of elements of the padded input that it covers.
template <class F>
int64_t visit_window(const std::vector<WindowAxis>& axes, const int64_t* out, F&& f) {
  int64_t begin[3];
  int64_t padded = 1;
  for (size_t i = 0; i < 3; ++i) {
    const WindowAxis& a = axes[i];
    begin[i] = out[i] * a.stride - a.pad_begin;
    int64_t inside = 0;  // ceil_mode windows may reach past the padding
    for (int64_t k = 0; k < a.kernel; ++k) {
      if (begin[i] + k * a.dilation < a.input + a.pad_end) ++inside;
    }
    padded *= inside;
  }
  for (int64_t kd = 0; kd < axes[0].kernel; ++kd) {
    const int64_t d = begin[0] + kd * axes[0].dilation;
    if (d < 0 || d >= axes[0].input) continue;
    for (int64_t kh = 0; kh < axes[1].kernel; ++kh) {
      const int64_t h = begin[1] + kh * axes[1].dilation;
      if (h < 0 || h >= axes[1].input) continue;
      for (int64_t kw = 0; kw < axes[2].kernel; ++kw) {
        const int64_t w = begin[2] + kw * axes[2].dilation;
        if (w < 0 || w >= axes[2].input) continue;
        f((d * axes[1].input + h) * axes[2].input + w);
      }
    }
  }
  return padded;
}

// Calls f(plane of the input, output position) for every output element, in order.
template <class F>
void visit_outputs(const Sizes& input, const std::vector<WindowAxis>& axes, F&& f) {
  for (int64_t plane = 0; plane < input[0] * input[1]; ++plane) {
    for (int64_t d = 0; d < axes[0].output; ++d) {
      for (int64_t h = 0; h < axes[1].output; ++h) {
        for (int64_t w = 0; w < axes[2].output; ++w) {
          const int64_t out[3] = {d, h, w};
          f(plane, out);
        }
      }
    }
  }
}

inline int64_t plane_elements(const std::vector<WindowAxis>& axes) {
  return axes[0].input * axes[1].input * axes[2].input;
}

}  // namespace assay

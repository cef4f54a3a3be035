// SPDX-License-Identifier: Apache-2.0
//
// What the convolutions share: shape inference from a data and a weight input, and the loop over
// outputs, channels and taps. Source: ONNX operator Conv 11.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ops/infer.h"
#include "graph/ops/window.h"

namespace assay {

// Which inputs of an operator are the data [N, C, ...], the weight [M, C / group, ...] and the
// bias [M].
struct ConvInputs {
  size_t x = 0;
  size_t w = 1;
  size_t bias = 2;
};

// window_specs and group.
std::vector<AttributeSpec> conv_specs();

// Spatial sizes of the weight, when all are known.
std::optional<std::vector<int64_t>> kernel_of(const Shape& weight);
// `group` divides the channels of x [N, C, ...] and w [M, C / group, ...].
Result<void> check_channels(const Shape& x, const Shape& w, int64_t group);
// The output's type, of element type `dtype`.
Result<Types> conv_types(const InferContext& context, ConvInputs inputs, DType dtype);
// Output elements times the multiply-adds behind each.
double conv_macs(const CostContext& context, size_t weight);

struct ConvSizes {
  int64_t batch = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t group = 1;
  std::vector<WindowAxis> axes = {};  // three

  int64_t in_plane() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t out_plane() const { return axes[0].output * axes[1].output * axes[2].output; }
  int64_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};
Result<ConvSizes> conv_sizes(const Attributes& attributes, const std::vector<int64_t>& x,
                             const std::vector<int64_t>& w);

// Calls f(input offset in the plane, tap) for every tap of the window at output position `out` that
// meets the data.
template <class F>
void visit_taps(const ConvSizes& s, const std::array<int64_t, 3>& out, F&& f) {
  const WindowAxis& d = s.axes[0];
  const WindowAxis& h = s.axes[1];
  const WindowAxis& w = s.axes[2];
  for (int64_t kd = 0; kd < d.kernel; ++kd) {
    const int64_t id = out[0] * d.stride - d.pad_begin + kd * d.dilation;
    if (id < 0 || id >= d.input) continue;
    for (int64_t kh = 0; kh < h.kernel; ++kh) {
      const int64_t ih = out[1] * h.stride - h.pad_begin + kh * h.dilation;
      if (ih < 0 || ih >= h.input) continue;
      const int64_t start = out[2] * w.stride - w.pad_begin;
      for (int64_t kw = 0; kw < w.kernel; ++kw) {
        const int64_t iw = start + kw * w.dilation;
        if (iw < 0 || iw >= w.input) continue;
        f((id * h.input + ih) * w.input + iw, (kd * h.kernel + kh) * w.kernel + kw);
      }
    }
  }
}

// Calls f(position, index) for every output position of a plane, in order.
template <class F>
void visit_positions(const ConvSizes& s, F&& f) {
  int64_t index = 0;
  for (int64_t d = 0; d < s.axes[0].output; ++d) {
    for (int64_t h = 0; h < s.axes[1].output; ++h) {
      for (int64_t w = 0; w < s.axes[2].output; ++w) {
        f(std::array<int64_t, 3>{d, h, w}, index++);
      }
    }
  }
}

// Calls f(n, m, plane of x, weights of filter m and its channel c) for every batch element, filter
// and input channel of the filter's group; offsets count elements.
template <class F>
void visit_planes(const ConvSizes& s, F&& f) {
  const int64_t in_per_group = s.in_channels / s.group;
  const int64_t out_per_group = s.out_channels / s.group;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t m = 0; m < s.out_channels; ++m) {
      const int64_t first = n * s.in_channels + m / out_per_group * in_per_group;
      for (int64_t c = 0; c < in_per_group; ++c) {
        f(n, m, (first + c) * s.in_plane(), (m * in_per_group + c) * s.taps());
      }
    }
  }
}

// store(output offset, filter, sum) of x(offset) * w(offset, filter), summed in Sum.
template <class Sum, class X, class W, class Store>
void convolve(const ConvSizes& s, X&& x, W&& w, Store&& store) {
  const int64_t in_per_group = s.in_channels / s.group;
  const int64_t out_per_group = s.out_channels / s.group;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t m = 0; m < s.out_channels; ++m) {
      const int64_t planes = (n * s.in_channels + m / out_per_group * in_per_group) * s.in_plane();
      const int64_t weights = m * in_per_group * s.taps();
      const int64_t outputs = (n * s.out_channels + m) * s.out_plane();
      visit_positions(s, [&](const std::array<int64_t, 3>& out, int64_t index) {
        Sum sum{};
        for (int64_t c = 0; c < in_per_group; ++c) {
          visit_taps(s, out, [&](int64_t at, int64_t tap) {
            sum += x(planes + c * s.in_plane() + at) * w(weights + c * s.taps() + tap, m);
          });
        }
        store(outputs + index, m, sum);
      });
    }
  }
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What the operators on quantised tensors share: 8-bit operands less their zero points, and the way
// back from a sum of products to 8 bits. Source: ONNX operators QLinearConv 10, QuantizeLinear 21.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {

// An input that must hold one number (a scalar or [1]).
Result<void> expect_one(const InferContext& context, size_t input, std::string_view name);
// One number, or a vector of this length.
Result<void> expect_one_or_vector(const InferContext& context, size_t input, const Dim& length,
                                  std::string_view name);
// The first dimension of an input, unknown where its rank is.
Dim leading_dim(const InferContext& context, size_t input);

// Calls f.operator()<T>() with int8_t or uint8_t.
template <class F>
Result<void> dispatch_byte(DType dtype, F&& f) {
  if (dtype == DType::kI8) {
    f.template operator()<int8_t>();
  } else if (dtype == DType::kU8) {
    f.template operator()<uint8_t>();
  } else {
    return no_kernel_for(dtype);
  }
  return {};
}

// An i8 or u8 tensor less its zero point: one, or one a channel.
class ByteOperand {
 public:
  // Without a zero point input the point is zero.
  ByteOperand(const KernelContext& context, size_t data, size_t zero_point = OpEntry::kVariadic);
  int32_t at(int64_t index, int64_t channel) const {
    return raw(index) - (zeros_.size() == 1 ? zeros_[0] : zeros_[static_cast<size_t>(channel)]);
  }

 private:
  int32_t raw(int64_t index) const {
    return is_signed_ ? static_cast<const int8_t*>(data_)[index]
                      : static_cast<const uint8_t*>(data_)[index];
  }

  const void* data_;
  bool is_signed_;
  std::vector<int32_t> zeros_;
};

// The nearest integer (ties to even) that T holds; NaN becomes 0.
template <class T>
T saturated(double value) {
  if (std::isnan(value)) return T{0};
  const double rounded = std::nearbyint(value);
  return static_cast<T>(std::clamp(rounded, static_cast<double>(std::numeric_limits<T>::lowest()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

// sum * a_scale * b_scale / y_scale + y_zero_point; b_scale may be one a channel.
class Requantizer {
 public:
  Requantizer(const KernelContext& context, size_t a_scale, size_t b_scale, size_t y_scale,
              size_t y_zero_point);
  template <class T>
  T operator()(int64_t sum, int64_t channel) const {
    const double scale = scales_.size() == 1 ? scales_[0] : scales_[static_cast<size_t>(channel)];
    return saturated<T>(std::nearbyint(static_cast<double>(sum) * scale) + zero_point_);
  }

 private:
  std::vector<double> scales_;
  double zero_point_;
};

}  // namespace assay

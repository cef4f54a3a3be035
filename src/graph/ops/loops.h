// SPDX-License-Identifier: Apache-2.0
//
// What the reference kernels of all families share: dispatch on element types and walks over
// strided indices. Kernels are plain loops that are easy to check, not fast ones; floating sums are
// kept in double.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "graph/operator.h"

namespace assay {

using Sizes = std::vector<int64_t>;

// What sums of T are kept in.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// Typed data of an input or output.
template <class T>
const T* input_data(const KernelContext& context, size_t input) {
  return context.inputs[input]->values<T>().data();
}
template <class T>
T* output_data(const KernelContext& context, size_t output) {
  return context.outputs[output].values<T>().data();
}
inline const Sizes& input_shape(const KernelContext& context, size_t input) {
  return context.inputs[input]->shape();
}
inline const Sizes& output_shape(const KernelContext& context, size_t output) {
  return context.outputs[output].shape();
}

inline Error no_kernel_for(DType dtype) {
  return Error{ErrorCode::kUnsupported,
               "no reference kernel for element type " + std::string(dtype_name(dtype))};
}

// Calls f.operator()<T>() with the C++ type of a 32- or 64-bit floating type.
template <class F>
Result<void> dispatch_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF32:
      f.template operator()<float>();
      return {};
    case DType::kF64:
      f.template operator()<double>();
      return {};
    default:
      return no_kernel_for(dtype);
  }
}

// The same for every arithmetic type, bool as uint8_t.
template <class F>
Result<void> dispatch_arithmetic(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kI8:
      f.template operator()<int8_t>();
      return {};
    case DType::kU8:
    case DType::kBool:
      f.template operator()<uint8_t>();
      return {};
    case DType::kI16:
      f.template operator()<int16_t>();
      return {};
    case DType::kU16:
      f.template operator()<uint16_t>();
      return {};
    case DType::kI32:
      f.template operator()<int32_t>();
      return {};
    case DType::kU32:
      f.template operator()<uint32_t>();
      return {};
    case DType::kI64:
      f.template operator()<int64_t>();
      return {};
    case DType::kU64:
      f.template operator()<uint64_t>();
      return {};
    default:
      return dispatch_floating(dtype, f);
  }
}

// For data movement: any type of the same width.
template <class F>
Result<void> dispatch_width(DType dtype, F&& f) {
  switch (dtype_bits(dtype)) {
    case 8:
      f.template operator()<uint8_t>();
      return {};
    case 16:
      f.template operator()<uint16_t>();
      return {};
    case 32:
      f.template operator()<uint32_t>();
      return {};
    case 64:
      f.template operator()<uint64_t>();
      return {};
    default:
      return no_kernel_for(dtype);
  }
}

inline bool is_16bit_floating(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
inline bool is_8bit_floating(DType dtype) { return is_floating(dtype) && dtype_bits(dtype) == 8; }
inline bool is_4bit(DType dtype) { return dtype_bits(dtype) == 4; }

// Copies in a type that C++ has: f32 for the 16- and 8-bit floating types, i8 and u8 for i4 and u4;
// any other tensor itself.
DType widened(DType dtype);
Tensor widened(const Tensor& tensor);
// And back: floating numbers round to nearest even (8-bit ones saturate), integers keep the low
// bits. `from` has the type widened(to.dtype()).
void narrow_into(const Tensor& from, Tensor& to);

// Runs a kernel of the wider type on operands for which `narrow` holds. Outputs must have been
// allocated.
Result<void> run_widened(KernelFunction kernel, const KernelContext& context,
                         bool (*narrow)(DType));
template <KernelFunction kernel>
Result<void> widen16(const KernelContext& context) {
  return run_widened(kernel, context, is_16bit_floating);
}
// For data movement: 4-bit operands one to a byte.
template <KernelFunction kernel>
Result<void> widen4(const KernelContext& context) {
  return run_widened(kernel, context, is_4bit);
}

// Output 0 is input 0, byte by byte.
Result<void> copy_bytes(const KernelContext& context);

int64_t element_count(const Sizes& shape);
Sizes packed_strides(const Sizes& shape);
// Strides with which a tensor of shape `from` is read at indices of the shape `to` it broadcasts
// to.
Sizes broadcast_strides(const Sizes& from, const Sizes& to);

// Calls f(i, offsets) for the i-th index of `shape` in row-major order, with the offset of that
// index under each of N stride sets.
template <size_t N, class F>
void walk(const Sizes& shape, const std::array<Sizes, N>& strides, F&& f) {
  const int64_t count = element_count(shape);
  Sizes index(shape.size(), 0);
  std::array<int64_t, N> offsets{};
  for (int64_t i = 0; i < count; ++i) {
    f(i, offsets);
    for (size_t axis = shape.size(); axis-- > 0;) {
      ++index[axis];
      for (size_t n = 0; n < N; ++n) offsets[n] += strides[n][axis];
      if (index[axis] < shape[axis]) break;
      for (size_t n = 0; n < N; ++n) offsets[n] -= strides[n][axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

// A shape seen as [outer, axis, inner].
struct AxisView {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};
AxisView view_around(const Sizes& shape, int64_t axis);

// Any element as a double (integers above 2^53 round).
Result<std::vector<double>> as_doubles(const Tensor& tensor);
// The elements of an i32 or i64 tensor.
Result<Sizes> as_integers(const Tensor& tensor);

}  // namespace assay

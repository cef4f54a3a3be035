// SPDX-License-Identifier: Apache-2.0
//
// What the families of element-wise operators share: one function applied to every element, or to
// every pair of elements with NumPy broadcasting. Functions are non-type template arguments, so
// each operator is one line of a table.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {

// ---- Shapes ----

// Any arithmetic type: floating of 16 bits or more, integers of 8 or more.
Result<void> expect_numbers(const InferContext& context, size_t input = 0);
// The broadcast of all inputs from `first` on, of element type `dtype`.
Result<Types> infer_broadcast(const InferContext& context, DType dtype, size_t first = 0);
// Numbers of one type, broadcast: the type of the result, or bool.
Result<Types> infer_arithmetic(const InferContext& context);
Result<Types> infer_comparison(const InferContext& context);
// Output 0 has the type of input 0, any number or a signed one.
Result<Types> infer_same_number(const InferContext& context);
Result<Types> infer_same_signed(const InferContext& context);

// ---- Costs ----

// So many operations for each element of output 0; none for integers.
Cost cost_elementwise(const CostContext& context, double flops, double transcendentals);
template <int flops, int transcendentals>
Cost cost_per_element(const CostContext& context) {
  return cost_elementwise(context, flops, transcendentals);
}
// One operation for each operand after the first.
Cost cost_operands(const CostContext& context);

// ---- Kernels ----

// Truncates and saturates where T is an integer: the conversion itself would be undefined.
template <class T>
T from_double(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    return static_cast<T>(value);
  }
}

// Integer arithmetic wraps: it is done in uint64_t and cut.
template <class T>
T wrapped(uint64_t value) {
  return static_cast<T>(value);
}
template <class T>
uint64_t bits_of(T value) {
  return static_cast<uint64_t>(value);
}

template <auto f>
double call_on_double(double x, const Attributes& attributes) {
  if constexpr (std::is_invocable_v<decltype(f), double, const Attributes&>) {
    return f(x, attributes);
  } else {
    return f(x);
  }
}

// y = f(x), or f(x, attributes), computed in double.
template <auto f>
Result<void> map_floating(const KernelContext& context) {
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = static_cast<T>(call_on_double<f>(static_cast<double>(x[i]), context.attributes));
    }
  });
}

// The same for integers too, whose results are truncated.
template <auto f>
Result<void> map_as_double(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = from_double<T>(call_on_double<f>(static_cast<double>(x[i]), context.attributes));
    }
  });
}

// y = F{}(x) for numbers in their own type; F{}(x) is a T for any T.
template <class F>
Result<void> map_arithmetic(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < x.size(); ++i) y[i] = F{}(x[i]);
  });
}

// y = F{}(a, b) with broadcasting; y holds U.
template <class F, class T, class U>
void combine(const Tensor& a, const Tensor& b, Tensor& y, F f = {}) {
  const T* left = a.values<T>().data();
  const T* right = b.values<T>().data();
  U* out = y.values<U>().data();
  walk<2>(y.shape(),
          {broadcast_strides(a.shape(), y.shape()), broadcast_strides(b.shape(), y.shape())},
          [&](int64_t i, const std::array<int64_t, 2>& at) {
            out[i] = static_cast<U>(f(left[at[0]], right[at[1]]));
          });
}

template <class F>
Result<void> kernel_binary(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    combine<F, T, T>(*context.inputs[0], *context.inputs[1], context.outputs[0]);
  });
}

template <class F>
Result<void> kernel_comparison(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    combine<F, T, uint8_t>(*context.inputs[0], *context.inputs[1], context.outputs[0]);
  });
}

}  // namespace assay

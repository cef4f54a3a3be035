// SPDX-License-Identifier: Apache-2.0
//
// Functions of several elements, broadcast as NumPy does: Add, Sub, Mul, Div, Pow, Min, Max, Clip,
// Equal, Greater, Less, Not, Where. Integers wrap.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// ---- Shapes ----

// The broadcast of all inputs from `first` on, of element type `dtype`.
Result<Types> infer_broadcast(const InferContext& context, DType dtype, size_t first = 0) {
  Shape shape;
  for (size_t i = first; i < context.inputs.size(); ++i) {
    if (!context.has(i)) return invalid("input " + std::to_string(i) + " is required");
    if (!context.type(i).shape) return Types{TensorType::unranked(dtype)};
    ASSAY_ASSIGN(shape, broadcast(shape, *context.type(i).shape));
  }
  return Types{TensorType(dtype, std::move(shape))};
}

Result<void> expect_numbers(const InferContext& context) {
  const DType dtype = context.type(0).dtype;
  if (!is_integer(dtype) || dtype_bits(dtype) < 8) ASSAY_TRY(expect_floating(context, 0));
  return {};
}

Result<Types> infer_arithmetic(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    ASSAY_TRY(expect_same_dtype(context, 0, i));
  }
  return infer_broadcast(context, context.type(0).dtype);
}

Result<Types> infer_pow(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  if (!is_integer(context.type(1).dtype)) ASSAY_TRY(expect_floating(context, 1));
  return infer_broadcast(context, context.type(0).dtype);
}

Result<Types> infer_comparison(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  return infer_broadcast(context, DType::kBool);
}

Result<Types> infer_equal(const InferContext& context) {
  if (context.type(0).dtype != DType::kBool) ASSAY_TRY(expect_numbers(context));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  return infer_broadcast(context, DType::kBool);
}

Result<Types> infer_not(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kBool}));
  return Types{context.type(0)};
}

Result<Types> infer_where(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kBool}));
  ASSAY_TRY(expect_same_dtype(context, 1, 2));
  return infer_broadcast(context, context.type(1).dtype);
}

Result<Types> infer_clip(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  for (size_t i = 1; i < 3; ++i) {
    ASSAY_TRY(expect_same_dtype(context, 0, i));
    ASSAY_TRY(expect_rank(context, i, 0));
  }
  return Types{context.type(0)};
}

// ---- Costs ----

Cost cost_elementwise(const CostContext& context, double flops, double transcendentals) {
  Cost cost = context.operand_bytes();
  if (!is_floating(context.inputs[0]->dtype)) return cost;
  cost.flops = flops * context.output_elements(0);
  cost.transcendentals = transcendentals * context.output_elements(0);
  return cost;
}

// Add, Sub, Mul, Min, Max, comparisons: one operation for each operand after the first.
Cost cost_simple(const CostContext& context) {
  return cost_elementwise(context, static_cast<double>(context.inputs.size()) - 1, 0);
}
Cost cost_div(const CostContext& context) { return cost_elementwise(context, 1, 1); }
Cost cost_pow(const CostContext& context) { return cost_elementwise(context, 0, 1); }
Cost cost_clip(const CostContext& context) {
  return cost_elementwise(context, (context.has(1) ? 1 : 0) + (context.has(2) ? 1 : 0), 0);
}

// ---- Kernels ----

template <class T>
T wrap(uint64_t value) {
  return static_cast<T>(value);
}
template <class T>
uint64_t bits(T value) {
  return static_cast<uint64_t>(value);
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    if constexpr (!std::is_floating_point_v<T>) return wrap<T>(bits(a) + bits(b));
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    if constexpr (!std::is_floating_point_v<T>) return wrap<T>(bits(a) - bits(b));
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    if constexpr (!std::is_floating_point_v<T>) return wrap<T>(bits(a) * bits(b));
  }
};
struct Div {  // integers truncate towards zero; a divisor of 0 was refused before
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a / b;
    if constexpr (!std::is_floating_point_v<T>) {
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrap<T>(uint64_t{0} - bits(a));
      return static_cast<T>(a / b);
    }
  }
};
struct Min {  // NaN wins
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

// y = F{}(a, b) with broadcasting; y holds U.
template <class F, class T, class U>
void combine(const Tensor& a, const Tensor& b, Tensor& y) {
  const T* left = a.values<T>().data();
  const T* right = b.values<T>().data();
  U* out = y.values<U>().data();
  walk<2>(y.shape(),
          {broadcast_strides(a.shape(), y.shape()), broadcast_strides(b.shape(), y.shape())},
          [&](int64_t i, const std::array<int64_t, 2>& at) {
            out[i] = static_cast<U>(F{}(left[at[0]], right[at[1]]));
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

// Min and Max of one or more inputs. The output is read by combine() at the index it writes only.
template <class F>
Result<void> kernel_variadic(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    Tensor& y = context.outputs[0];
    combine<F, T, T>(*context.inputs[0], *context.inputs[0], y);
    for (size_t i = 1; i < context.inputs.size(); ++i) {
      combine<F, T, T>(y, *context.inputs[i], y);
    }
  });
}

Result<void> kernel_div(const KernelContext& context) {
  const Tensor& divisor = *context.inputs[1];
  bool zero = false;
  if (is_integer(divisor.dtype())) {
    ASSAY_TRY(dispatch_arithmetic(divisor.dtype(), [&]<class T>() {
      zero = std::ranges::find(divisor.values<T>(), T{0}) != divisor.values<T>().end();
    }));
  }
  if (zero) return invalid("integer division by zero");
  return kernel_binary<Div>(context);
}

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

Result<void> kernel_pow(const KernelContext& context) {
  ASSAY_ASSIGN(const std::vector<double> exponents, as_doubles(*context.inputs[1]));
  Tensor& y = context.outputs[0];
  return dispatch_arithmetic(y.dtype(), [&]<class T>() {
    const T* base = input_data<T>(context, 0);
    T* out = output_data<T>(context, 0);
    walk<2>(y.shape(),
            {broadcast_strides(input_shape(context, 0), y.shape()),
             broadcast_strides(input_shape(context, 1), y.shape())},
            [&](int64_t i, const std::array<int64_t, 2>& at) {
              out[i] = from_double<T>(std::pow(static_cast<double>(base[at[0]]),
                                               exponents[static_cast<size_t>(at[1])]));
            });
  });
}

Result<void> kernel_not(const KernelContext& context) {
  const auto x = context.inputs[0]->values<uint8_t>();
  std::ranges::transform(x, context.outputs[0].values<uint8_t>().begin(),
                         [](uint8_t value) { return static_cast<uint8_t>(value == 0); });
  return {};
}

Result<void> kernel_where(const KernelContext& context) {
  const Sizes& shape = output_shape(context, 0);
  const uint8_t* condition = input_data<uint8_t>(context, 0);
  return dispatch_width(context.inputs[1]->dtype(), [&]<class T>() {
    const T* yes = input_data<T>(context, 1);
    const T* no = input_data<T>(context, 2);
    T* out = output_data<T>(context, 0);
    walk<3>(shape,
            {broadcast_strides(input_shape(context, 0), shape),
             broadcast_strides(input_shape(context, 1), shape),
             broadcast_strides(input_shape(context, 2), shape)},
            [&](int64_t i, const std::array<int64_t, 3>& at) {
              out[i] = condition[at[0]] != 0 ? yes[at[1]] : no[at[2]];
            });
  });
}

Result<void> kernel_clip(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < x.size(); ++i) {
      T value = x[i];
      if (context.has(1)) value = std::max(value, input_data<T>(context, 1)[0]);
      if (context.has(2)) value = std::min(value, input_data<T>(context, 2)[0]);
      y[i] = value;
    }
  });
}

struct Entry {
  const char* type;
  int version;
  size_t min_inputs, max_inputs;
  InferFunction infer;
  CostFunction cost;
  KernelFunction kernel;
};

}  // namespace

void add_elementwise_ops(OpTable& table) {
  constexpr size_t kAny = OpEntry::kVariadic;
  const Entry entries[] = {
      {"Add", 14, 2, 2, infer_arithmetic, cost_simple, widen16<kernel_binary<Add>>},
      {"Sub", 14, 2, 2, infer_arithmetic, cost_simple, widen16<kernel_binary<Sub>>},
      {"Mul", 14, 2, 2, infer_arithmetic, cost_simple, widen16<kernel_binary<Mul>>},
      {"Div", 14, 2, 2, infer_arithmetic, cost_div, widen16<kernel_div>},
      {"Pow", 15, 2, 2, infer_pow, cost_pow, widen16<kernel_pow>},
      {"Min", 13, 1, kAny, infer_arithmetic, cost_simple, widen16<kernel_variadic<Min>>},
      {"Max", 13, 1, kAny, infer_arithmetic, cost_simple, widen16<kernel_variadic<Max>>},
      {"Clip", 13, 1, 3, infer_clip, cost_clip, widen16<kernel_clip>},
      {"Equal", 19, 2, 2, infer_equal, cost_simple, widen16<kernel_comparison<Equal>>},
      {"Greater", 13, 2, 2, infer_comparison, cost_simple, widen16<kernel_comparison<Greater>>},
      {"Less", 13, 2, 2, infer_comparison, cost_simple, widen16<kernel_comparison<Less>>},
      {"Not", 1, 1, 1, infer_not, nullptr, kernel_not},
      {"Where", 16, 3, 3, infer_where, nullptr, kernel_where},
  };
  for (const Entry& e : entries) {
    table.add({.type = e.type,
               .since_version = e.version,
               .min_inputs = e.min_inputs,
               .max_inputs = e.max_inputs,
               .infer = e.infer,
               .cost = e.cost,
               .kernel = e.kernel});
  }
}

}  // namespace assay

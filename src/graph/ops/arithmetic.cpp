// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of several operands, broadcast as NumPy does: Add, Sub, Mul, Div, Mod, Pow, Min, Max,
// Mean, Sum, Clip. Integers wrap.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// ---- Shapes and costs ----

Result<Types> infer_floating(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  return infer_arithmetic(context);
}

Result<Types> infer_pow(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  ASSAY_TRY(expect_numbers(context, 1));
  return infer_broadcast(context, context.type(0).dtype);
}

Result<Types> infer_mod(const InferContext& context) {
  const int64_t fmod = context.attributes.integer("fmod");
  if (fmod != 0 && fmod != 1) return invalid("attribute 'fmod' is " + std::to_string(fmod));
  if (is_floating(context.type(0).dtype) && fmod == 0) {
    return invalid("attribute 'fmod' must be 1 for floating-point numbers");
  }
  return infer_arithmetic(context);
}

Result<Types> infer_clip(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  for (size_t i = 1; i < 3; ++i) {
    ASSAY_TRY(expect_same_dtype(context, 0, i));
    if (!context.has(i) || !context.type(i).known()) continue;
    if (*context.type(i).shape->elements() != 1) ASSAY_TRY(expect_rank(context, i, 0));
  }
  return Types{context.type(0)};
}

Cost cost_clip(const CostContext& context) {
  return cost_elementwise(context, (context.has(1) ? 1 : 0) + (context.has(2) ? 1 : 0), 0);
}
// A mean has one multiplication more than a sum.
Cost cost_mean(const CostContext& context) {
  return cost_elementwise(context, static_cast<double>(context.inputs.size()), 0);
}

// ---- Kernels ----

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    if constexpr (!std::is_floating_point_v<T>) return wrapped<T>(bits_of(a) + bits_of(b));
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a - b;
    if constexpr (!std::is_floating_point_v<T>) return wrapped<T>(bits_of(a) - bits_of(b));
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    if constexpr (!std::is_floating_point_v<T>) return wrapped<T>(bits_of(a) * bits_of(b));
  }
};
struct Div {  // integers truncate towards zero; a divisor of 0 was refused before
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return a / b;
    if constexpr (!std::is_floating_point_v<T>) {
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
        return wrapped<T>(uint64_t{0} - bits_of(a));
      }
      return static_cast<T>(a / b);
    }
  }
};
struct Remainder {  // C's: the sign of a
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
    if constexpr (!std::is_floating_point_v<T>) {
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
      return static_cast<T>(a % b);
    }
  }
};
struct Modulo {  // Python's: the sign of b
  template <class T>
  T operator()(T a, T b) const {
    const T rest = Remainder{}(a, b);
    return rest != T{0} && (rest < T{0}) != (b < T{0}) ? static_cast<T>(rest + b) : rest;
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

// F over one or more inputs. The output is read by combine() at the index it writes only.
template <class F>
Result<void> kernel_variadic(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    Tensor& y = context.outputs[0];
    const auto first = [](T a, T) { return a; };
    combine<decltype(first), T, T>(*context.inputs[0], *context.inputs[0], y);
    for (size_t i = 1; i < context.inputs.size(); ++i) {
      combine<F, T, T>(y, *context.inputs[i], y);
    }
  });
}

// The sum in double; the mean multiplies it by 1 / n.
template <bool mean>
Result<void> kernel_sum(const KernelContext& context) {
  const Sizes& shape = output_shape(context, 0);
  std::vector<double> totals(static_cast<size_t>(element_count(shape)), 0.0);
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    for (const Tensor* input : context.inputs) {
      const T* x = input->values<T>().data();
      walk<1>(shape, {broadcast_strides(input->shape(), shape)},
              [&](int64_t i, const std::array<int64_t, 1>& at) {
                totals[static_cast<size_t>(i)] += static_cast<double>(x[at[0]]);
              });
    }
    const double divisor = mean ? static_cast<double>(context.inputs.size()) : 1.0;
    std::ranges::transform(totals, output_data<T>(context, 0),
                           [divisor](double total) { return static_cast<T>(total / divisor); });
  });
}

Result<void> refuse_zero(const Tensor& divisor) {
  bool zero = false;
  if (is_integer(divisor.dtype())) {
    ASSAY_TRY(dispatch_arithmetic(divisor.dtype(), [&]<class T>() {
      zero = std::ranges::find(divisor.values<T>(), T{0}) != divisor.values<T>().end();
    }));
  }
  if (zero) return invalid("integer division by zero");
  return {};
}

Result<void> kernel_div(const KernelContext& context) {
  ASSAY_TRY(refuse_zero(*context.inputs[1]));
  return kernel_binary<Div>(context);
}

Result<void> kernel_mod(const KernelContext& context) {
  ASSAY_TRY(refuse_zero(*context.inputs[1]));
  return context.attributes.integer("fmod") != 0 ? kernel_binary<Remainder>(context)
                                                 : kernel_binary<Modulo>(context);
}

// By squaring, with wrapping; a negative power of an integer is 0 but for 1 and -1.
template <class T>
T integer_power(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == T{1}) return base;
    if (std::is_signed_v<T> && base == static_cast<T>(-1)) return exponent % 2 == 0 ? T{1} : base;
    return T{0};
  }
  uint64_t result = 1;
  for (uint64_t square = bits_of(base); exponent > 0; exponent >>= 1) {
    if (exponent % 2 != 0) result *= square;
    square *= square;
  }
  return wrapped<T>(result);
}

template <class T, class E>
T power(T base, E exponent) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<E>) {
    return integer_power(base, from_double<int64_t>(static_cast<double>(exponent)));
  } else {
    return from_double<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

Result<void> kernel_pow(const KernelContext& context) {
  Tensor& y = context.outputs[0];
  const Tensor& exponent = *context.inputs[1];
  const std::array<Sizes, 2> strides{broadcast_strides(input_shape(context, 0), y.shape()),
                                     broadcast_strides(exponent.shape(), y.shape())};
  Result<void> status;
  ASSAY_TRY(dispatch_arithmetic(y.dtype(), [&]<class T>() {
    const T* base = input_data<T>(context, 0);
    T* out = output_data<T>(context, 0);
    status = dispatch_arithmetic(exponent.dtype(), [&]<class E>() {
      const E* power_of = input_data<E>(context, 1);
      walk<2>(y.shape(), strides, [&](int64_t i, const std::array<int64_t, 2>& at) {
        out[i] = power<T, E>(base[at[0]], power_of[at[1]]);
      });
    });
  }));
  return status;
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

struct Arithmetic {
  const char* type;
  int version;
  size_t min_inputs, max_inputs;
  InferFunction infer;
  CostFunction cost;
  KernelFunction kernel;
  std::vector<AttributeSpec> attributes = {};
};

}  // namespace

void add_arithmetic_ops(OpTable& table) {
  constexpr size_t kAny = OpEntry::kVariadic;
  const std::vector<Arithmetic> entries{
      {"Add", 14, 2, 2, infer_arithmetic, cost_operands, widen16<kernel_binary<Add>>},
      {"Sub", 14, 2, 2, infer_arithmetic, cost_operands, widen16<kernel_binary<Sub>>},
      {"Mul", 14, 2, 2, infer_arithmetic, cost_operands, widen16<kernel_binary<Mul>>},
      {"Div", 14, 2, 2, infer_arithmetic, cost_per_element<1, 1>, widen16<kernel_div>},
      {"Mod",
       13,
       2,
       2,
       infer_mod,
       cost_per_element<3, 1>,
       widen16<kernel_mod>,
       {{"fmod", AttributeType::kInt, int64_t{0}}}},
      {"Pow", 15, 2, 2, infer_pow, cost_per_element<0, 1>, widen16<kernel_pow>},
      {"Min", 13, 1, kAny, infer_arithmetic, cost_operands, widen16<kernel_variadic<Min>>},
      {"Max", 13, 1, kAny, infer_arithmetic, cost_operands, widen16<kernel_variadic<Max>>},
      {"Mean", 13, 1, kAny, infer_floating, cost_mean, widen16<kernel_sum<true>>},
      {"Sum", 13, 1, kAny, infer_floating, cost_operands, widen16<kernel_sum<false>>},
      {"Clip", 13, 1, 3, infer_clip, cost_clip, widen16<kernel_clip>},
  };
  for (const Arithmetic& e : entries) {
    table.add({.type = e.type,
               .since_version = e.version,
               .min_inputs = e.min_inputs,
               .max_inputs = e.max_inputs,
               .attributes = e.attributes,
               .infer = e.infer,
               .cost = e.cost,
               .kernel = e.kernel});
  }
}

}  // namespace assay

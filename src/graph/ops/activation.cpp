// SPDX-License-Identifier: Apache-2.0
//
// Functions of one element: Relu, LeakyRelu, Sigmoid, Tanh, Erf, Gelu, Exp, Log, Sqrt, Abs, Neg.
#include <cmath>
#include <numbers>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// y = f(x), computed in double. `F` is a stateless functor.
template <class F>
Result<void> map_floating(const KernelContext& context) {
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = static_cast<T>(F{}(static_cast<double>(x[i]), context.attributes));
    }
  });
}

// y = f(x) for signed numbers in their own type; F{}(x) is a T for any T.
template <class F>
Result<void> map_arithmetic(const KernelContext& context) {
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < x.size(); ++i) y[i] = F{}(x[i]);
  });
}

struct LeakyRelu {
  double operator()(double x, const Attributes& attributes) const {
    return x < 0 ? x * static_cast<double>(attributes.number("alpha")) : x;
  }
};
struct Sigmoid {
  double operator()(double x, const Attributes&) const {
    // Both forms avoid overflow of exp.
    if (x >= 0) return 1 / (1 + std::exp(-x));
    const double e = std::exp(x);
    return e / (1 + e);
  }
};
struct Tanh {
  double operator()(double x, const Attributes&) const { return std::tanh(x); }
};
struct Erf {
  double operator()(double x, const Attributes&) const { return std::erf(x); }
};
struct Exp {
  double operator()(double x, const Attributes&) const { return std::exp(x); }
};
struct Log {
  double operator()(double x, const Attributes&) const { return std::log(x); }
};
struct Sqrt {
  double operator()(double x, const Attributes&) const { return std::sqrt(x); }
};
// Hendrycks and Gimpel 2016; approximate = "tanh" is their second formula.
struct Gelu {
  double operator()(double x, const Attributes& attributes) const {
    if (attributes.string("approximate") == "tanh") {
      const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    }
    return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  }
};
struct Relu {
  template <class T>
  T operator()(T x) const {
    return x < T{0} ? T{0} : x;  // NaN stays NaN
  }
};
struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {  // the most negative integer wraps to itself
      return x < T{0} ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
    }
  }
};
struct Neg {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
    }
  }
};

Result<Types> infer_relu(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0,
                         {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                          DType::kI16, DType::kI32, DType::kI64}));
  return Types{context.type(0)};
}

Result<Types> infer_abs(const InferContext& context) {
  const DType dtype = context.type(0).dtype;
  if (!is_integer(dtype) || dtype_bits(dtype) < 8) ASSAY_TRY(expect_floating(context, 0));
  return Types{context.type(0)};
}

Result<Types> infer_gelu(const InferContext& context) {
  const std::string& approximate = context.attributes.string("approximate");
  if (approximate != "none" && approximate != "tanh") {
    return invalid("attribute 'approximate' is '" + approximate + "', not none or tanh");
  }
  return infer_same_floating(context);
}

template <int flops, int transcendentals>
Cost cost_per_element(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double elements = context.output_elements(0);
  cost.transcendentals = transcendentals * elements;
  if (is_floating(context.inputs[0]->dtype)) cost.flops = flops * elements;
  return cost;
}

Cost cost_gelu(const CostContext& context) {
  return context.attributes.string("approximate") == "tanh" ? cost_per_element<8, 1>(context)
                                                            : cost_per_element<4, 1>(context);
}

struct Unary {
  const char* type;
  int version;
  InferFunction infer;
  CostFunction cost;
  KernelFunction kernel;
  std::vector<AttributeSpec> attributes = {};
};

}  // namespace

void add_activation_ops(OpTable& table) {
  const std::vector<Unary> entries{
      {"Relu", 14, infer_relu, cost_per_element<1, 0>, widen16<map_arithmetic<Relu>>},
      {"LeakyRelu",
       16,
       infer_same_floating,
       cost_per_element<2, 0>,
       widen16<map_floating<LeakyRelu>>,
       {{"alpha", AttributeType::kFloat, 0.01f}}},
      {"Sigmoid", 13, infer_same_floating, cost_per_element<2, 2>, widen16<map_floating<Sigmoid>>},
      {"Tanh", 13, infer_same_floating, cost_per_element<0, 1>, widen16<map_floating<Tanh>>},
      {"Erf", 13, infer_same_floating, cost_per_element<0, 1>, widen16<map_floating<Erf>>},
      {"Gelu",
       20,
       infer_gelu,
       cost_gelu,
       widen16<map_floating<Gelu>>,
       {{"approximate", AttributeType::kString, "none"}}},
      {"Exp", 13, infer_same_floating, cost_per_element<0, 1>, widen16<map_floating<Exp>>},
      {"Log", 13, infer_same_floating, cost_per_element<0, 1>, widen16<map_floating<Log>>},
      {"Sqrt", 13, infer_same_floating, cost_per_element<0, 1>, widen16<map_floating<Sqrt>>},
      {"Abs", 13, infer_abs, cost_per_element<1, 0>, widen16<map_arithmetic<Abs>>},
      {"Neg", 13, infer_relu, cost_per_element<1, 0>, widen16<map_arithmetic<Neg>>},
  };
  for (const Unary& e : entries) {
    table.add({.type = e.type,
               .since_version = e.version,
               .min_inputs = 1,
               .max_inputs = 1,
               .attributes = e.attributes,
               .infer = e.infer,
               .cost = e.cost,
               .kernel = e.kernel});
  }
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Mathematical functions of one element: exponentials, circular and hyperbolic functions, rounding,
// signs, and tests for what is no number.
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {  // the most negative integer wraps to itself
      return x < T{0} ? wrapped<T>(uint64_t{0} - bits_of(x)) : x;
    }
  }
};
struct Neg {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return wrapped<T>(uint64_t{0} - bits_of(x));
    }
  }
};
struct Sign {
  template <class T>
  T operator()(T x) const {
    if (x > T{0}) return T{1};
    if constexpr (std::is_signed_v<T>) {
      if (x < T{0}) return static_cast<T>(-1);
    }
    return x;  // 0, or NaN
  }
};

// ---- Tests ----

Result<Types> infer_test(const InferContext& context) {
  if (!is_8bit_floating(context.type(0).dtype)) ASSAY_TRY(expect_floating(context, 0));
  TensorType type = context.type(0);
  type.dtype = DType::kBool;
  return Types{type};
}

template <auto test>
Result<void> kernel_test(const KernelContext& context) {
  ASSAY_ASSIGN(const std::vector<double> x, as_doubles(*context.inputs[0]));
  const auto y = context.outputs[0].values<uint8_t>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = test(x[i], context.attributes) ? 1 : 0;
  return {};
}

constexpr auto kIsNan = [](double x, const Attributes&) { return std::isnan(x); };
constexpr auto kIsInf = [](double x, const Attributes& attributes) {
  return std::isinf(x) && attributes.integer(x < 0 ? "detect_negative" : "detect_positive") != 0;
};

struct Function {
  const char* type;
  int version;
  InferFunction infer;
  CostFunction cost;
  KernelFunction kernel;
  std::vector<AttributeSpec> attributes = {};
};

template <auto f>
Function transcendental(const char* type, int version) {
  return {type, version, infer_same_floating, cost_per_element<0, 1>, widen16<map_floating<f>>};
}
template <auto f>
Function rounding(const char* type, int version) {
  return {type, version, infer_same_floating, cost_per_element<1, 0>, widen16<map_floating<f>>};
}

}  // namespace

void add_math_ops(OpTable& table) {
  const std::vector<Function> functions{
      transcendental<[](double x) { return std::acos(x); }>("Acos", 7),
      transcendental<[](double x) { return std::acosh(x); }>("Acosh", 9),
      transcendental<[](double x) { return std::asin(x); }>("Asin", 7),
      transcendental<[](double x) { return std::asinh(x); }>("Asinh", 9),
      transcendental<[](double x) { return std::atan(x); }>("Atan", 7),
      transcendental<[](double x) { return std::atanh(x); }>("Atanh", 9),
      transcendental<[](double x) { return std::cos(x); }>("Cos", 7),
      transcendental<[](double x) { return std::cosh(x); }>("Cosh", 9),
      transcendental<[](double x) { return std::erf(x); }>("Erf", 13),
      transcendental<[](double x) { return std::exp(x); }>("Exp", 13),
      transcendental<[](double x) { return std::log(x); }>("Log", 13),
      transcendental<[](double x) { return 1 / x; }>("Reciprocal", 13),
      transcendental<[](double x) { return std::sin(x); }>("Sin", 7),
      transcendental<[](double x) { return std::sinh(x); }>("Sinh", 9),
      transcendental<[](double x) { return std::sqrt(x); }>("Sqrt", 13),
      transcendental<[](double x) { return std::tan(x); }>("Tan", 7),
      transcendental<[](double x) { return std::tanh(x); }>("Tanh", 13),
      rounding<[](double x) { return std::ceil(x); }>("Ceil", 13),
      rounding<[](double x) { return std::floor(x); }>("Floor", 13),
      rounding<[](double x) { return std::nearbyint(x); }>("Round", 11),  // ties to even
      {"Abs", 13, infer_same_number, cost_per_element<1, 0>, widen16<map_arithmetic<Abs>>},
      {"Neg", 13, infer_same_signed, cost_per_element<1, 0>, widen16<map_arithmetic<Neg>>},
      {"Sign", 13, infer_same_number, cost_per_element<1, 0>, widen16<map_arithmetic<Sign>>},
      {"IsNaN", 20, infer_test, cost_per_element<1, 0>, kernel_test<kIsNan>},
      {"IsInf",
       20,
       infer_test,
       cost_per_element<1, 0>,
       kernel_test<kIsInf>,
       {{"detect_negative", AttributeType::kInt, int64_t{1}},
        {"detect_positive", AttributeType::kInt, int64_t{1}}}},
  };
  for (const Function& f : functions) {
    table.add({.type = f.type,
               .since_version = f.version,
               .min_inputs = 1,
               .max_inputs = 1,
               .attributes = f.attributes,
               .infer = f.infer,
               .cost = f.cost,
               .kernel = f.kernel});
  }
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Activation functions. Formulas: the ONNX operators of the same names, and the papers they come
// from where one is named.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

struct Relu {
  template <class T>
  T operator()(T x) const {
    return x < T{0} ? T{0} : x;  // NaN stays NaN
  }
};

double attribute(const Attributes& attributes, const char* name) {
  return static_cast<double>(attributes.number(name));
}

double sigmoid(double x) {
  // Both forms avoid overflow of exp.
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double softsign(double x) { return x / (1 + std::abs(x)); }
double hard_swish(double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double mish(double x) { return x * std::tanh(softplus(x)); }  // Misra 2019

double leaky_relu(double x, const Attributes& a) { return x < 0 ? x * attribute(a, "alpha") : x; }
double elu(double x, const Attributes& a) {
  return x < 0 ? attribute(a, "alpha") * std::expm1(x) : x;
}
double celu(double x, const Attributes& a) {  // Barron 2017
  const double alpha = attribute(a, "alpha");
  return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha));
}
double selu(double x, const Attributes& a) {  // Klambauer et al. 2017
  return attribute(a, "gamma") * (x > 0 ? x : attribute(a, "alpha") * std::expm1(x));
}
double hard_sigmoid(double x, const Attributes& a) {
  return std::clamp(attribute(a, "alpha") * x + attribute(a, "beta"), 0.0, 1.0);
}
double shrink(double x, const Attributes& a) {
  const double bias = attribute(a, "bias");
  if (x < -attribute(a, "lambd")) return x + bias;
  return x > attribute(a, "lambd") ? x - bias : 0;
}
double thresholded_relu(double x, const Attributes& a) { return x > attribute(a, "alpha") ? x : 0; }
// Hendrycks and Gimpel 2016; approximate = "tanh" is their second formula.
double gelu(double x, const Attributes& a) {
  if (a.string("approximate") == "tanh") {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
  }
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

Result<Types> infer_gelu(const InferContext& context) {
  const std::string& approximate = context.attributes.string("approximate");
  if (approximate != "none" && approximate != "tanh") {
    return invalid("attribute 'approximate' is '" + approximate + "', not none or tanh");
  }
  return infer_same_floating(context);
}

Cost cost_gelu(const CostContext& context) {
  return context.attributes.string("approximate") == "tanh" ? cost_per_element<8, 1>(context)
                                                            : cost_per_element<4, 1>(context);
}

// The slope is broadcast to x, never x to the slope.
Result<Types> infer_prelu(const InferContext& context) {
  ASSAY_ASSIGN(Types types, infer_arithmetic(context));
  const TensorType& x = context.type(0);
  if (!x.shape || !types[0].shape) return Types{x};
  bool fits = types[0].shape->rank() == x.shape->rank();
  for (size_t i = 0; fits && i < x.shape->rank(); ++i) {
    fits = may_equal((*x.shape)[i], (*types[0].shape)[i]);
  }
  if (fits) return Types{x};
  return invalid("input 1 (slope) has shape " + context.type(1).shape->text() +
                 ", which does not broadcast to " + x.shape->text());
}

struct PRelu {
  template <class T>
  T operator()(T x, T slope) const {
    if constexpr (std::is_floating_point_v<T>) return x < T{0} ? x * slope : x;
    if constexpr (!std::is_floating_point_v<T>) {
      return x < T{0} ? wrapped<T>(bits_of(x) * bits_of(slope)) : x;
    }
  }
};

struct Activation {
  const char* type;
  int version;
  InferFunction infer;
  CostFunction cost;
  KernelFunction kernel;
  std::vector<AttributeSpec> attributes = {};
};

template <auto f>
Activation floating(const char* type, int version, CostFunction cost,
                    std::vector<AttributeSpec> attributes = {}) {
  return {
      type, version, infer_same_floating, cost, widen16<map_floating<f>>, std::move(attributes)};
}

AttributeSpec number(const char* name, float value) { return {name, AttributeType::kFloat, value}; }

}  // namespace

void add_activation_ops(OpTable& table) {
  const std::vector<Activation> activations{
      {"Relu", 14, infer_same_signed, cost_per_element<1, 0>, widen16<map_arithmetic<Relu>>},
      floating<leaky_relu>("LeakyRelu", 16, cost_per_element<2, 0>, {number("alpha", 0.01f)}),
      floating<thresholded_relu>("ThresholdedRelu", 10, cost_per_element<1, 0>,
                                 {number("alpha", 1)}),
      floating<elu>("Elu", 6, cost_per_element<3, 1>, {number("alpha", 1)}),
      floating<celu>("Celu", 12, cost_per_element<6, 1>, {number("alpha", 1)}),
      floating<selu>("Selu", 6, cost_per_element<4, 1>,
                     {number("alpha", 1.67326319217681884765625f),
                      number("gamma", 1.05070102214813232421875f)}),
      floating<sigmoid>("Sigmoid", 13, cost_per_element<2, 2>),
      floating<hard_sigmoid>("HardSigmoid", 6, cost_per_element<4, 0>,
                             {number("alpha", 0.2f), number("beta", 0.5f)}),
      floating<hard_swish>("HardSwish", 14, cost_per_element<5, 0>),
      floating<softplus>("Softplus", 1, cost_per_element<1, 2>),
      floating<softsign>("Softsign", 1, cost_per_element<3, 1>),
      floating<mish>("Mish", 18, cost_per_element<2, 3>),
      {"Shrink",
       9,
       infer_same_number,
       cost_per_element<3, 0>,
       widen16<map_as_double<shrink>>,
       {number("bias", 0), number("lambd", 0.5f)}},
      {"Gelu",
       20,
       infer_gelu,
       cost_gelu,
       widen16<map_floating<gelu>>,
       {{"approximate", AttributeType::kString, "none"}}},
  };
  for (const Activation& a : activations) {
    table.add({.type = a.type,
               .since_version = a.version,
               .min_inputs = 1,
               .max_inputs = 1,
               .attributes = a.attributes,
               .infer = a.infer,
               .cost = a.cost,
               .kernel = a.kernel});
  }
  table.add({.type = "PRelu",
             .since_version = 16,
             .min_inputs = 2,
             .max_inputs = 2,
             .infer = infer_prelu,
             .cost = cost_per_element<2, 0>,
             .kernel = widen16<kernel_binary<PRelu>>});
}

}  // namespace assay

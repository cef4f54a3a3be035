// SPDX-License-Identifier: Apache-2.0
//
// Gradients of functions of one element: dx = dy f'(x), with f' from the output where that saves
// keeping the input.
#include <cmath>
#include <numbers>

#include "graph/ops/gradient.h"

namespace assay {
namespace {

// The slope at one element, as nodes.
using Slope = ValueId (*)(const Adjoint& a);

template <Slope slope>
Result<void> times(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("Mul", {a.dy(), slope(a)}));
}

ValueId slope_sigmoid(const Adjoint& a) {  // y (1 - y)
  return a.add("Mul", {a.y(), a.add("Sub", {a.number(1, a.y()), a.y()})});
}
ValueId slope_tanh(const Adjoint& a) {  // 1 - y^2
  return a.add("Sub", {a.number(1, a.y()), a.add("Mul", {a.y(), a.y()})});
}
ValueId slope_erf(const Adjoint& a) {  // 2 / sqrt(pi) exp(-x^2)
  const ValueId bell = a.add("Exp", {a.add("Neg", {a.add("Mul", {a.x(), a.x()})})});
  return a.add("Mul", {a.number(2 * std::numbers::inv_sqrtpi, bell), bell});
}
ValueId slope_exp(const Adjoint& a) { return a.y(); }

Result<void> gradient_relu(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("assay.ReluGradient", {a.dy(), a.y()}));
}

Result<void> gradient_leaky_relu(const GradientContext& context) {
  const Adjoint a(context);
  const ValueId positive = a.add("Greater", {a.x(), a.number(0, a.x())});
  const ValueId alpha = a.number(static_cast<double>(a.attributes().number("alpha")), a.dy());
  return a.give(0, a.add("Where", {positive, a.dy(), a.add("Mul", {a.dy(), alpha})}));
}

Result<void> gradient_gelu(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("assay.GeluGradient", {a.dy(), a.x()}, a.attributes()));
}

Result<void> gradient_log(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("Div", {a.dy(), a.x()}));
}

Result<void> gradient_sqrt(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("Div", {a.dy(), a.add("Add", {a.y(), a.y()})}));
}

// The sign of x; 0 at 0.
Result<void> gradient_abs(const GradientContext& context) {
  const Adjoint a(context);
  const ValueId zero = a.number(0, a.x());
  const ValueId negative = a.add("Less", {a.x(), zero});
  const ValueId positive = a.add("Greater", {a.x(), zero});
  const ValueId minus = a.add("Neg", {a.dy()});
  return a.give(0, a.add("Where", {negative, minus, a.masked(positive, a.dy())}));
}

Result<void> gradient_neg(const GradientContext& context) {
  const Adjoint a(context);
  return a.give(0, a.add("Neg", {a.dy()}));
}

}  // namespace

void add_activation_gradients(OpTable& table) {
  table.set_gradient("", "Relu", gradient_relu);
  table.set_gradient("", "LeakyRelu", gradient_leaky_relu);
  table.set_gradient("", "Sigmoid", times<slope_sigmoid>);
  table.set_gradient("", "Tanh", times<slope_tanh>);
  table.set_gradient("", "Erf", times<slope_erf>);
  table.set_gradient("", "Exp", times<slope_exp>);
  table.set_gradient("", "Gelu", gradient_gelu);
  table.set_gradient("", "Log", gradient_log);
  table.set_gradient("", "Sqrt", gradient_sqrt);
  table.set_gradient("", "Abs", gradient_abs);
  table.set_gradient("", "Neg", gradient_neg);
}

}  // namespace assay

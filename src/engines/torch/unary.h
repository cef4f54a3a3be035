// SPDX-License-Identifier: Apache-2.0
//
// Lowering of operators that are one libtorch function of one tensor, or of two.
#pragma once

#include "engines/torch/lowering.h"

namespace assay::torch_engine {

using UnaryFunction = at::Tensor (*)(const at::Tensor&);
using UnaryInPlace = at::Tensor& (*)(at::Tensor&);

template <UnaryFunction kFunction>
void run_unary(const Step& step, at::Tensor* registers) {
  step.out(registers) = kFunction(step.in(registers, 0));
}

template <UnaryInPlace kFunction>
void run_unary_in_place(const Step& step, at::Tensor* registers) {
  at::Tensor value = step.in(registers, 0);
  kFunction(value);
  step.out(registers) = std::move(value);
}

// The in-place form is only right where autograd does not need the input's value: the backward pass
// of relu, sigmoid, tanh, exp, sqrt and reciprocal uses the output instead.
template <UnaryFunction kFunction, UnaryInPlace kInPlace>
Result<Step> lower_unary(const Lowering& lowering) {
  if (lowering.may_overwrite(0)) {
    Step step = lowering.step(run_unary_in_place<kInPlace>, "");
    step.note = "in place";
    return step;
  }
  return lowering.step(run_unary<kFunction>, "");
}

template <UnaryFunction kFunction>
Result<Step> lower_unary_out(const Lowering& lowering) {
  return lowering.step(run_unary<kFunction>, "");
}

using BinaryFunction = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

template <BinaryFunction kFunction>
void run_binary(const Step& step, at::Tensor* registers) {
  step.out(registers) = kFunction(step.in(registers, 0), step.in(registers, 1));
}

template <BinaryFunction kFunction>
Result<Step> lower_binary(const Lowering& lowering) {
  return lowering.step(run_binary<kFunction>, "");
}

}  // namespace assay::torch_engine

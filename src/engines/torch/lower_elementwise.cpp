// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/logical_xor.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include "engines/torch/unary.h"

namespace assay::torch_engine {
namespace {

at::Tensor add(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor sub(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }

// ONNX divides integers with truncation.
at::Tensor div(const at::Tensor& a, const at::Tensor& b) {
  if (at::isIntegralType(a.scalar_type(), /*includeBool=*/true)) return at::div(a, b, "trunc");
  return at::div(a, b);
}

// The result has the base's type, whatever the exponent's.
at::Tensor pow(const at::Tensor& a, const at::Tensor& b) {
  return at::pow(a, b).to(a.scalar_type());
}

template <size_t kTarget>
void run_add_in_place(const Step& step, at::Tensor* registers) {
  at::Tensor sum = step.in(registers, kTarget);
  sum.add_(step.in(registers, 1 - kTarget));
  step.out(registers) = std::move(sum);
}

bool has_output_type(const Lowering& lowering, size_t input) {
  return lowering.type(input).shape && lowering.type(input) == lowering.output_type();
}

Result<Step> lower_add(const Lowering& lowering) {
  const bool same = lowering.node().inputs[0] == lowering.node().inputs[1];
  for (const size_t target : {size_t{0}, size_t{1}}) {
    if (!same && lowering.may_overwrite(target) && has_output_type(lowering, target)) {
      Step step = lowering.step(target == 0 ? run_add_in_place<0> : run_add_in_place<1>, "");
      step.note = "in place";
      return step;
    }
  }
  return lowering.step(run_binary<add>, "");
}

template <BinaryFunction kFunction>
void run_fold(const Step& step, at::Tensor* registers) {
  at::Tensor value = step.in(registers, 0);
  for (size_t i = 1; i < step.inputs.size(); ++i) value = kFunction(value, step.in(registers, i));
  step.out(registers) = std::move(value);
}

// Max, Min, Sum, Mean over any number of inputs. One input is returned as it is.
template <BinaryFunction kFunction>
Result<Step> lower_fold(const Lowering& lowering) {
  return lowering.step(run_fold<kFunction>, "");
}

void run_where(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::where(step.in(registers, 0), step.in(registers, 1), step.in(registers, 2));
}

Result<Step> lower_where(const Lowering& lowering) { return lowering.step(run_where, ""); }

template <BinaryFunction kFunction>
void add_binary(LoweringTable& table, const char* type, const char* kernel,
                OutputMemory memory = OutputMemory::kOwn) {
  table.add(type, lower_binary<kFunction>, memory, kernel);
}

at::Tensor eq(const at::Tensor& a, const at::Tensor& b) { return at::eq(a, b); }
at::Tensor gt(const at::Tensor& a, const at::Tensor& b) { return at::gt(a, b); }
at::Tensor ge(const at::Tensor& a, const at::Tensor& b) { return at::ge(a, b); }
at::Tensor lt(const at::Tensor& a, const at::Tensor& b) { return at::lt(a, b); }
at::Tensor le(const at::Tensor& a, const at::Tensor& b) { return at::le(a, b); }
at::Tensor round(const at::Tensor& a) { return at::round(a); }

}  // namespace

void add_elementwise_lowerings(LoweringTable& table) {
  table.add("Add", lower_add, OutputMemory::kOwn, "aten::add");
  add_binary<sub>(table, "Sub", "aten::sub");
  add_binary<at::mul>(table, "Mul", "aten::mul");
  add_binary<div>(table, "Div", "aten::div");
  add_binary<pow>(table, "Pow", "aten::pow", OutputMemory::kView);
  add_binary<eq>(table, "Equal", "aten::eq");
  add_binary<gt>(table, "Greater", "aten::gt");
  add_binary<ge>(table, "GreaterOrEqual", "aten::ge");
  add_binary<lt>(table, "Less", "aten::lt");
  add_binary<le>(table, "LessOrEqual", "aten::le");
  add_binary<at::logical_and>(table, "And", "aten::logical_and");
  add_binary<at::logical_or>(table, "Or", "aten::logical_or");
  add_binary<at::logical_xor>(table, "Xor", "aten::logical_xor");
  table.add("Max", lower_fold<at::maximum>, OutputMemory::kView, "aten::maximum");
  table.add("Min", lower_fold<at::minimum>, OutputMemory::kView, "aten::minimum");
  table.add("Sum", lower_fold<add>, OutputMemory::kView, "aten::add");
  table.add("Where", lower_where, OutputMemory::kOwn, "aten::where");
  table.add("Not", lower_unary_out<at::logical_not>, OutputMemory::kOwn, "aten::logical_not");
  table.add("Exp", lower_unary<at::exp, at::exp_>, OutputMemory::kKept, "aten::exp");
  table.add("Sqrt", lower_unary<at::sqrt, at::sqrt_>, OutputMemory::kKept, "aten::sqrt");
  table.add("Reciprocal", lower_unary<at::reciprocal, at::reciprocal_>, OutputMemory::kKept,
            "aten::reciprocal");
  table.add("Neg", lower_unary<at::neg, at::neg_>, OutputMemory::kOwn, "aten::neg");
  table.add("Log", lower_unary_out<at::log>, OutputMemory::kOwn, "aten::log");
  table.add("Abs", lower_unary_out<at::abs>, OutputMemory::kOwn, "aten::abs");
  table.add("Erf", lower_unary_out<at::erf>, OutputMemory::kOwn, "aten::erf");
  table.add("Sin", lower_unary_out<at::sin>, OutputMemory::kOwn, "aten::sin");
  table.add("Cos", lower_unary_out<at::cos>, OutputMemory::kOwn, "aten::cos");
  table.add("Floor", lower_unary_out<at::floor>, OutputMemory::kOwn, "aten::floor");
  table.add("Ceil", lower_unary_out<at::ceil>, OutputMemory::kOwn, "aten::ceil");
  table.add("Round", lower_unary_out<round>, OutputMemory::kOwn, "aten::round");
  table.add("Sign", lower_unary_out<at::sign>, OutputMemory::kOwn, "aten::sign");
}

}  // namespace assay::torch_engine

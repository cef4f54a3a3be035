// SPDX-License-Identifier: Apache-2.0
//
// Functions of single elements beyond the common ones, and of bits.
#include <limits>

#include <ATen/ops/abs.h>
#include <ATen/ops/acos.h>
#include <ATen/ops/acosh.h>
#include <ATen/ops/add.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/asin.h>
#include <ATen/ops/asinh.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/atanh.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_left_shift.h>
#include <ATen/ops/bitwise_not.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/bitwise_xor.h>
#include <ATen/ops/celu.h>
#include <ATen/ops/cosh.h>
#include <ATen/ops/div.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/fmod.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/sinh.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "engines/torch/unary.h"

namespace assay::torch_engine {
namespace {

// Two numbers that an attribute each gives.
struct Numbers {
  double first = 0;
  double second = 0;
};

using NumberedFunction = at::Tensor (*)(const at::Tensor&, const Numbers&);

template <NumberedFunction kFunction>
void run_numbered(const Step& step, at::Tensor* registers) {
  step.out(registers) = kFunction(step.in(registers, 0), step.as<Numbers>());
}

double number(const Lowering& lowering, const char* name) {
  return *name == '\0' ? 0 : static_cast<double>(lowering.attributes().number(name));
}

at::Tensor celu(const at::Tensor& x, const Numbers& n) { return at::celu(x, n.first); }
at::Tensor selu(const at::Tensor& x, const Numbers& n) { return at::elu(x, n.first, n.second); }
at::Tensor thresholded(const at::Tensor& x, const Numbers& n) {
  return at::where(at::gt(x, n.first), x, at::zeros_like(x));
}
// x - bias beyond lambd, x + bias below -lambd, 0 between.
at::Tensor shrink(const at::Tensor& x, const Numbers& n) {
  const at::Tensor zero = at::zeros_like(x);
  const at::Tensor high = at::where(at::gt(x, n.first), at::sub(x, n.second), zero);
  return at::where(at::lt(x, -n.first), at::add(x, n.second), high);
}
at::Tensor softsign(const at::Tensor& x) { return at::div(x, at::add(at::abs(x), 1)); }

template <NumberedFunction kFunction>
Result<Step> lower_alpha(const Lowering& lowering) {
  return lowering.step_with(run_numbered<kFunction>, "", Numbers{number(lowering, "alpha"), 0});
}
Result<Step> lower_selu(const Lowering& lowering) {
  return lowering.step_with(run_numbered<selu>, "",
                            Numbers{number(lowering, "alpha"), number(lowering, "gamma")});
}
Result<Step> lower_shrink(const Lowering& lowering) {
  if (!is_floating(lowering.type(0).dtype)) return Lowering::unsupported("Shrink of integers");
  return lowering.step_with(run_numbered<shrink>, "",
                            Numbers{number(lowering, "lambd"), number(lowering, "bias")});
}

struct Infinities {
  bool positive = true;
  bool negative = true;
};

void run_is_inf(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<Infinities>();
  const at::Tensor& x = step.in(registers, 0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const at::Tensor above = at::eq(x, data.positive ? kInfinity : -kInfinity);
  step.out(registers) =
      data.positive && data.negative ? at::bitwise_or(above, at::eq(x, -kInfinity)) : above;
  if (!data.positive && !data.negative) step.out(registers) = at::zeros_like(above);
}

Result<Step> lower_is_inf(const Lowering& lowering) {
  return lowering.step_with(run_is_inf, "aten::eq",
                            Infinities{lowering.attributes().integer("detect_positive") != 0,
                                       lowering.attributes().integer("detect_negative") != 0});
}

at::Tensor bit_and(const at::Tensor& a, const at::Tensor& b) { return at::bitwise_and(a, b); }
at::Tensor bit_or(const at::Tensor& a, const at::Tensor& b) { return at::bitwise_or(a, b); }
at::Tensor bit_xor(const at::Tensor& a, const at::Tensor& b) { return at::bitwise_xor(a, b); }
at::Tensor shift_left(const at::Tensor& a, const at::Tensor& b) {
  return at::bitwise_left_shift(a, b);
}
at::Tensor shift_right(const at::Tensor& a, const at::Tensor& b) {
  return at::bitwise_right_shift(a, b);
}
at::Tensor remainder(const at::Tensor& a, const at::Tensor& b) { return at::remainder(a, b); }
at::Tensor fmod(const at::Tensor& a, const at::Tensor& b) { return at::fmod(a, b); }

Result<Step> lower_shift(const Lowering& lowering) {
  const DType dtype = lowering.type(0).dtype;
  if (dtype != DType::kU8 && is_integer(dtype) && dtype_name(dtype).starts_with('u')) {
    return Lowering::unsupported("libtorch does not shift " + std::string(dtype_name(dtype)));
  }
  const bool left = lowering.attributes().string("direction") == "LEFT";
  return lowering.step(left ? run_binary<shift_left> : run_binary<shift_right>,
                       left ? "aten::bitwise_left_shift" : "aten::bitwise_right_shift");
}

Result<Step> lower_mod(const Lowering& lowering) {
  const bool c_like = lowering.attributes().integer("fmod") != 0;
  return lowering.step(c_like ? run_binary<fmod> : run_binary<remainder>,
                       c_like ? "aten::fmod" : "aten::remainder");
}

void run_mean_of_all(const Step& step, at::Tensor* registers) {
  at::Tensor sum = step.in(registers, 0);
  for (size_t i = 1; i < step.inputs.size(); ++i) sum = at::add(sum, step.in(registers, i));
  step.out(registers) = at::div(sum, static_cast<double>(step.inputs.size()));
}

Result<Step> lower_mean_of_all(const Lowering& lowering) {
  return lowering.step(run_mean_of_all, "aten::add, aten::div");
}

// One at the first of the largest elements.
void run_hardmax(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  const auto axis = step.as<int64_t>();
  const at::Tensor first = at::argmax(x, axis, /*keepdim=*/true);
  step.out(registers) = at::zeros_like(x).scatter(axis, first, 1);
}

Result<Step> lower_hardmax(const Lowering& lowering) {
  return lowering.step_with(run_hardmax, "aten::argmax, aten::scatter",
                            lowering.attributes().integer("axis"));
}

}  // namespace

void add_math_lowerings(LoweringTable& table) {
  const auto unary = [&](const char* type, LowerFunction lower, const char* kernel) {
    table.add(type, lower, OutputMemory::kOwn, kernel);
  };
  unary("Acos", lower_unary_out<at::acos>, "aten::acos");
  unary("Acosh", lower_unary_out<at::acosh>, "aten::acosh");
  unary("Asin", lower_unary_out<at::asin>, "aten::asin");
  unary("Asinh", lower_unary_out<at::asinh>, "aten::asinh");
  unary("Atan", lower_unary_out<at::atan>, "aten::atan");
  unary("Atanh", lower_unary_out<at::atanh>, "aten::atanh");
  unary("Cosh", lower_unary_out<at::cosh>, "aten::cosh");
  unary("Sinh", lower_unary_out<at::sinh>, "aten::sinh");
  unary("Tan", lower_unary_out<at::tan>, "aten::tan");
  unary("IsNaN", lower_unary_out<at::isnan>, "aten::isnan");
  unary("BitwiseNot", lower_unary_out<at::bitwise_not>, "aten::bitwise_not");
  unary("Mish", lower_unary_out<at::mish>, "aten::mish");
  unary("Softsign", lower_unary_out<softsign>, "aten::abs, aten::add, aten::div");
  unary("Celu", lower_alpha<celu>, "aten::celu");
  unary("Selu", lower_selu, "aten::elu");
  unary("ThresholdedRelu", lower_alpha<thresholded>, "aten::gt, aten::where");
  unary("Shrink", lower_shrink, "aten::gt, aten::lt, aten::where");
  unary("IsInf", lower_is_inf, "aten::eq");
  unary("BitwiseAnd", lower_binary<bit_and>, "aten::bitwise_and");
  unary("BitwiseOr", lower_binary<bit_or>, "aten::bitwise_or");
  unary("BitwiseXor", lower_binary<bit_xor>, "aten::bitwise_xor");
  unary("BitShift", lower_shift, "");
  unary("Mod", lower_mod, "");
  unary("Mean", lower_mean_of_all, "");
  unary("Hardmax", lower_hardmax, "");
}

}  // namespace assay::torch_engine

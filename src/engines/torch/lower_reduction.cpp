// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <ATen/ops/abs.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>

#include "engines/torch/lowering.h"

namespace assay::torch_engine {
namespace {

struct ReduceData {
  std::vector<int64_t> axes;
  bool keep = true;
};

using ReduceFunction = at::Tensor (*)(const at::Tensor&, at::IntArrayRef, bool);

template <ReduceFunction kFunction>
void run_reduce(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ReduceData>();
  step.out(registers) = kFunction(step.in(registers, 0), data.axes, data.keep);
}

// No axis: every element is reduced by itself (ReduceL1 is still its magnitude).
template <ReduceFunction kFunction>
void run_each(const Step& step, at::Tensor* registers) {
  step.out(registers) = kFunction(step.in(registers, 0).unsqueeze(-1), {-1}, false);
}

template <ReduceFunction kFunction>
Result<Step> lower_reduce(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  ReduceData data;
  data.keep = attributes.integer("keepdims") != 0;
  if (lowering.has(1)) {
    ASSAY_ASSIGN(data.axes, lowering.require_integers(1, "axes"));
  } else if (attributes.has("axes")) {
    data.axes = attributes.integers("axes");
  }
  if (data.axes.empty()) {
    if (attributes.has("noop_with_empty_axes") && attributes.integer("noop_with_empty_axes") != 0) {
      return lowering.step(run_each<kFunction>, "");
    }
    ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
    data.axes.resize(static_cast<size_t>(rank));
    std::iota(data.axes.begin(), data.axes.end(), int64_t{0});
  }
  return lowering.step_with(run_reduce<kFunction>, "", std::move(data));
}

// Integer sums and products keep their type, where libtorch would widen to i64.
at::Tensor sum(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return at::sum(x, axes, keep, x.scalar_type());
}
at::Tensor mean(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  if (at::isFloatingType(x.scalar_type())) return at::mean(x, axes, keep);
  int64_t count = 1;
  for (const int64_t axis : axes) count *= x.size(axis);
  return at::sum(x, axes, keep, x.scalar_type()).div(count, "trunc");
}
at::Tensor prod(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  at::Tensor value = x;
  std::vector<int64_t> ordered(axes.begin(), axes.end());
  for (int64_t& axis : ordered) axis = axis < 0 ? axis + x.dim() : axis;
  std::sort(ordered.rbegin(), ordered.rend());
  for (const int64_t axis : ordered) value = at::prod(value, axis, keep, x.scalar_type());
  return value;
}
at::Tensor amax(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return at::amax(x, axes, keep);
}
at::Tensor amin(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return at::amin(x, axes, keep);
}
at::Tensor sum_of_squares(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return sum(at::square(x), axes, keep);
}
at::Tensor l1(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return sum(at::abs(x), axes, keep);
}
at::Tensor l2(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return at::sqrt(sum_of_squares(x, axes, keep));
}
at::Tensor log_sum(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return at::log(sum(x, axes, keep));
}
at::Tensor log_sum_exp(const at::Tensor& x, at::IntArrayRef axes, bool keep) {
  return at::logsumexp(x, axes, keep);
}

struct ArgData {
  int64_t axis = 0;
  bool keep = true;
  bool last = false;
};

template <bool kMaximum>
void run_arg(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ArgData>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor ordered = data.last ? at::flip(x, data.axis) : x;
  at::Tensor index = kMaximum ? at::argmax(ordered, data.axis, data.keep)
                              : at::argmin(ordered, data.axis, data.keep);
  if (data.last) index = index.neg().add_(x.size(data.axis) - 1);
  step.out(registers) = std::move(index);
}

template <bool kMaximum>
Result<Step> lower_arg(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  return lowering.step_with(run_arg<kMaximum>, kMaximum ? "aten::argmax" : "aten::argmin",
                            ArgData{attributes.integer("axis"), attributes.integer("keepdims") != 0,
                                    attributes.integer("select_last_index") != 0});
}

template <ReduceFunction kFunction>
void add_reduce(LoweringTable& table, const char* type, const char* kernel) {
  table.add(type, lower_reduce<kFunction>, OutputMemory::kView, kernel);
}

}  // namespace

void add_reduction_lowerings(LoweringTable& table) {
  add_reduce<sum>(table, "ReduceSum", "aten::sum");
  add_reduce<mean>(table, "ReduceMean", "aten::mean");
  add_reduce<prod>(table, "ReduceProd", "aten::prod");
  add_reduce<amax>(table, "ReduceMax", "aten::amax");
  add_reduce<amin>(table, "ReduceMin", "aten::amin");
  add_reduce<sum_of_squares>(table, "ReduceSumSquare", "aten::square, aten::sum");
  add_reduce<l1>(table, "ReduceL1", "aten::abs, aten::sum");
  add_reduce<l2>(table, "ReduceL2", "aten::square, aten::sum, aten::sqrt");
  add_reduce<log_sum>(table, "ReduceLogSum", "aten::sum, aten::log");
  add_reduce<log_sum_exp>(table, "ReduceLogSumExp", "aten::logsumexp");
  table.add("ArgMax", lower_arg<true>, OutputMemory::kOwn);
  table.add("ArgMin", lower_arg<false>, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine

// SPDX-License-Identifier: Apache-2.0
//
// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one number for each plane.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_global_pool(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const TensorType& type = context.type(0);
  if (!type.shape) return Types{TensorType::unranked(type.dtype)};
  const Shape& x = *type.shape;
  if (x.rank() < 3) return invalid("input 0 has shape " + x.text() + ", not [N, C, spatial ...]");
  Shape y{x[0], x[1]};
  for (size_t i = 2; i < x.rank(); ++i) y.append(1);
  return Types{TensorType(type.dtype, y)};
}

Result<Types> infer_global_lp_pool(const InferContext& context) {
  ASSAY_TRY(expect_positive(context, "p"));
  return infer_global_pool(context);
}

Cost cost_global_average_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.input_elements(0);
  return cost;
}

Cost cost_global_max_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = std::max(0.0, context.input_elements(0) - context.output_elements(0));
  return cost;
}

Cost cost_global_lp_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const int64_t p = context.attributes.integer("p");
  cost.flops = 2 * context.input_elements(0);
  if (p != 1) {
    cost.transcendentals = context.output_elements(0) + (p > 2 ? context.input_elements(0) : 0);
  }
  return cost;
}

// y = finish(fold of step over a plane, from `start`).
template <class Step, class Finish>
Result<void> fold_planes(const KernelContext& context, double start, Step&& step, Finish&& finish) {
  const Sizes& shape = input_shape(context, 0);
  const int64_t planes = shape[0] * shape[1];
  const int64_t size = element_count(Sizes(shape.begin() + 2, shape.end()));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    for (int64_t plane = 0; plane < planes; ++plane) {
      double total = start;
      for (int64_t i = 0; i < size; ++i) total = step(total, static_cast<double>(*x++));
      *y++ = static_cast<T>(finish(total, static_cast<double>(size)));
    }
  });
}

Result<void> kernel_global_average_pool(const KernelContext& context) {
  return fold_planes(
      context, 0, [](double sum, double x) { return sum + x; },
      [](double sum, double size) { return sum / size; });
}

Result<void> kernel_global_max_pool(const KernelContext& context) {
  return fold_planes(
      context, -std::numeric_limits<double>::infinity(),
      [](double best, double x) { return x > best || std::isnan(x) ? x : best; },
      [](double best, double) { return best; });
}

Result<void> kernel_global_lp_pool(const KernelContext& context) {
  const auto p = static_cast<double>(context.attributes.integer("p"));
  return fold_planes(
      context, 0, [p](double sum, double x) { return sum + std::pow(std::abs(x), p); },
      [p](double sum, double) { return std::pow(sum, 1 / p); });
}

}  // namespace

void add_global_pool_ops(OpTable& table) {
  table.add({.type = "GlobalAveragePool",
             .since_version = 1,
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_global_pool,
             .cost = cost_global_average_pool,
             .kernel = widen16<kernel_global_average_pool>});
  table.add({.type = "GlobalMaxPool",
             .since_version = 1,
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_global_pool,
             .cost = cost_global_max_pool,
             .kernel = widen16<kernel_global_max_pool>});
  table.add({.type = "GlobalLpPool",
             .since_version = 2,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = {{"p", AttributeType::kInt, int64_t{2}}},
             .infer = infer_global_lp_pool,
             .cost = cost_global_lp_pool,
             .kernel = widen16<kernel_global_lp_pool>});
}

}  // namespace assay

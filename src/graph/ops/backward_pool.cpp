// SPDX-License-Identifier: Apache-2.0
//
// assay.AveragePoolGradient: every element of a window gets its share of the gradient. Inputs: dy
// and the shape of x; attributes: AveragePool's.
#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/pool_walk.h"

namespace assay {
namespace {

Result<Types> infer_average_gradient(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const DType dtype = context.type(0).dtype;
  const auto sizes = constant_integers(context, 1);
  if (!sizes) return Types{TensorType::unranked(dtype)};
  if (sizes->size() < 3 || std::ranges::any_of(*sizes, [](int64_t s) { return s < 0; })) {
    return invalid("input 1 (shape) is not [N, C, spatial ...]");
  }
  ASSAY_TRY(window_attributes(context.attributes, sizes->size() - 2, {}));
  return Types{TensorType(dtype, Shape::of(*sizes))};
}

// One addition for every element of every window.
Cost cost_average_gradient(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.input_elements(0);
  for (const int64_t k : context.attributes.integers("kernel_shape")) {
    cost.flops *= static_cast<double>(k);
  }
  return cost;
}

Result<void> kernel_average_gradient(const KernelContext& context) {
  const Sizes& shape = output_shape(context, 0);
  ASSAY_ASSIGN(const std::vector<WindowAxis> axes, resolve_window(context.attributes, shape, {}));
  const int64_t outputs = axes[0].output * axes[1].output * axes[2].output;
  if (context.inputs[0]->elements() != shape[0] * shape[1] * outputs) {
    return invalid("input 0 does not have the shape of the pool's output");
  }
  const bool count_padding = context.attributes.integer("count_include_pad") != 0;
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* dy = input_data<T>(context, 0);
    const auto dx = context.outputs[0].values<T>();
    std::fill(dx.begin(), dx.end(), T{0});
    visit_outputs(shape, axes, [&](int64_t plane, const int64_t* out) {
      T* to = dx.data() + plane * plane_elements(axes);
      int64_t count = 0;
      const int64_t padded = visit_window(axes, out, [&](int64_t /*at*/) { ++count; });
      const T share = *dy++ / static_cast<T>(count_padding ? padded : count);
      visit_window(axes, out, [&](int64_t at) { to[at] += share; });
    });
  });
}

}  // namespace

void add_backward_pool_ops(OpTable& table) {
  std::vector<AttributeSpec> specs = window_specs(true);
  specs.push_back({"ceil_mode", AttributeType::kInt, int64_t{0}});
  specs.push_back({"count_include_pad", AttributeType::kInt, int64_t{0}});
  table.add({.domain = "assay",
             .type = "AveragePoolGradient",
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = specs,
             .infer = infer_average_gradient,
             .cost = cost_average_gradient,
             .kernel = widen16<kernel_average_gradient>});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// assay.GatherGradient, assay.MaxPoolGradient: what was picked from several places adds up where it
// came from. The last input is the shape of the result.
#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_scattered(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  const DType dtype = context.type(0).dtype;
  const auto sizes = constant_integers(context, 2);
  if (!sizes) return Types{TensorType::unranked(dtype)};
  for (const int64_t size : *sizes) {
    if (size < 0) return invalid("input 2 (shape) holds " + std::to_string(size));
  }
  return Types{TensorType(dtype, Shape::of(*sizes))};
}

// One addition for every element that arrives.
Cost cost_scattered(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.input_elements(0);
  return cost;
}

Error outside(int64_t index, int64_t size) {
  return invalid("index " + std::to_string(index) + " is outside a dimension of " +
                 std::to_string(size));
}

Result<void> kernel_gather_gradient(const KernelContext& context) {
  const Sizes& shape = output_shape(context, 0);
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), shape.size()));
  const AxisView view = view_around(shape, static_cast<int64_t>(axis));
  ASSAY_ASSIGN(Sizes indices, as_integers(*context.inputs[1]));
  for (int64_t& index : indices) {
    if (index < -view.size || index >= view.size) return outside(index, view.size);
    if (index < 0) index += view.size;
  }
  if (context.inputs[0]->elements() !=
      view.outer * static_cast<int64_t>(indices.size()) * view.inner) {
    return invalid("input 0 does not have one row for every index");
  }
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* dy = input_data<T>(context, 0);
    const auto dx = context.outputs[0].values<T>();
    std::fill(dx.begin(), dx.end(), T{0});
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      for (const int64_t index : indices) {
        T* row = dx.data() + (outer * view.size + index) * view.inner;
        for (int64_t i = 0; i < view.inner; ++i) row[i] += *dy++;
      }
    }
  });
}

// A place counted with the first spatial axis fastest, as the row-major one.
int64_t row_major(int64_t place, const Sizes& shape) {
  const int64_t plane = element_count(Sizes(shape.begin() + 2, shape.end()));
  int64_t rest = place % plane;
  int64_t result = 0;
  for (size_t i = 2; i < shape.size(); ++i) {
    result = result * shape[i] + rest % shape[i];
    rest /= shape[i];
  }
  return place - place % plane + result;
}

// The indices are those of MaxPool's second output: positions in the whole input.
Result<void> kernel_max_pool_gradient(const KernelContext& context) {
  ASSAY_ASSIGN(Sizes indices, as_integers(*context.inputs[1]));
  const int64_t elements = context.outputs[0].elements();
  if (static_cast<int64_t>(indices.size()) != context.inputs[0]->elements()) {
    return invalid("there is not one index for every element of input 0");
  }
  for (const int64_t index : indices) {
    if (index < 0 || index >= elements) return outside(index, elements);
  }
  if (context.attributes.integer("storage_order") != 0) {
    for (int64_t& index : indices) index = row_major(index, output_shape(context, 0));
  }
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* dy = input_data<T>(context, 0);
    const auto dx = context.outputs[0].values<T>();
    std::fill(dx.begin(), dx.end(), T{0});
    for (size_t i = 0; i < indices.size(); ++i) dx[static_cast<size_t>(indices[i])] += dy[i];
  });
}

}  // namespace

void add_backward_index_ops(OpTable& table) {
  const auto add = [&](const char* type, std::vector<AttributeSpec> attributes,
                       KernelFunction kernel) {
    table.add({.domain = "assay",
               .type = type,
               .min_inputs = 3,
               .max_inputs = 3,
               .attributes = std::move(attributes),
               .infer = infer_scattered,
               .cost = cost_scattered,
               .kernel = kernel});
  };
  add("GatherGradient", {{"axis", AttributeType::kInt, int64_t{0}}},
      widen16<kernel_gather_gradient>);
  add("MaxPoolGradient", {{"storage_order", AttributeType::kInt, int64_t{0}}},
      widen16<kernel_max_pool_gradient>);
}

}  // namespace assay

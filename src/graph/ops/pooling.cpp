// SPDX-License-Identifier: Apache-2.0
//
// MaxPool, AveragePool, LpPool, MaxUnpool.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"
#include "graph/ops/pool_walk.h"
#include "graph/ops/window.h"

namespace assay {
namespace {

Result<Types> pool_types(const InferContext& context) {
  const TensorType& type = context.type(0);
  if (!type.shape) return Types{TensorType::unranked(type.dtype)};
  const Shape& x = *type.shape;
  if (x.rank() < 3) return invalid("input 0 has shape " + x.text() + ", not [N, C, spatial ...]");
  ASSAY_ASSIGN(const WindowAttributes window,
               window_attributes(context.attributes, x.rank() - 2, {}));
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    if (window.pads[i] >= span || window.pads[i + window.kernel.size()] >= span) {
      return invalid("attribute 'pads' is not smaller than the kernel: a window would be empty");
    }
  }
  Shape y{x[0], x[1]};
  for (size_t i = 2; i < x.rank(); ++i) {
    ASSAY_ASSIGN(Dim size, window_output(window, i - 2, x[i]));
    y.append(std::move(size));
  }
  return Types{TensorType(type.dtype, y)};
}

Result<Types> infer_pool(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  return pool_types(context);
}

// Also of bytes; output 1 has the places of the maxima.
Result<Types> infer_max_pool(const InferContext& context) {
  if (context.type(0).dtype != DType::kI8 && context.type(0).dtype != DType::kU8) {
    ASSAY_TRY(expect_floating(context, 0));
  }
  ASSAY_ASSIGN(Types types, pool_types(context));
  TensorType places = types[0];
  places.dtype = DType::kI64;
  types.push_back(std::move(places));
  return types;
}

double window_size(const CostContext& context) {
  double size = 1;
  for (const int64_t k : context.attributes.integers("kernel_shape")) {
    size *= static_cast<double>(k);
  }
  return size;
}

Cost cost_max_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  if (is_floating(context.inputs[0]->dtype))
    cost.flops = context.output_elements(0) * (window_size(context) - 1);
  return cost;
}

Cost cost_average_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.output_elements(0) * window_size(context);
  return cost;
}

// The place of element `at` of a plane, with the last axis fastest or (storage_order 1) the first.
int64_t stored_place(const std::vector<WindowAxis>& axes, int64_t at, bool first_axis_fastest) {
  if (!first_axis_fastest) return at;
  int64_t place = 0;
  for (size_t i = 3; i-- > 0;) {
    int64_t behind = 1;
    for (size_t j = i + 1; j < 3; ++j) behind *= axes[j].input;
    place = place * axes[i].input + at / behind % axes[i].input;
  }
  return place;
}

template <class T>
void max_pool(const KernelContext& context, const std::vector<WindowAxis>& axes) {
  const T* x = input_data<T>(context, 0);
  T* y = output_data<T>(context, 0);
  auto* places = context.outputs.size() > 1 ? output_data<int64_t>(context, 1) : nullptr;
  const bool first_axis_fastest = context.attributes.integer("storage_order") != 0;
  visit_outputs(input_shape(context, 0), axes, [&](int64_t plane, const int64_t* out) {
    const T* from = x + plane * plane_elements(axes);
    int64_t best = -1;
    visit_window(axes, out, [&](int64_t at) {
      if (best < 0 || from[at] > from[best] || from[at] != from[at]) best = at;
    });
    *y++ = best < 0 ? std::numeric_limits<T>::lowest() : from[best];
    if (places == nullptr) return;
    *places++ =
        best < 0 ? -1 : plane * plane_elements(axes) + stored_place(axes, best, first_axis_fastest);
  });
}

Result<void> kernel_max_pool(const KernelContext& context) {
  ASSAY_ASSIGN(const std::vector<WindowAxis> axes,
               resolve_window(context.attributes, input_shape(context, 0), {}));
  const DType dtype = context.inputs[0]->dtype();
  if (is_floating(dtype)) {
    return dispatch_floating(dtype, [&]<class T>() { max_pool<T>(context, axes); });
  }
  return dispatch_arithmetic(dtype, [&]<class T>() { max_pool<T>(context, axes); });
}

Result<void> kernel_average_pool(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const std::vector<WindowAxis> axes, resolve_window(context.attributes, shape, {}));
  const bool count_padding = context.attributes.integer("count_include_pad") != 0;
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    visit_outputs(shape, axes, [&](int64_t plane, const int64_t* out) {
      const T* from = x + plane * plane_elements(axes);
      double sum = 0;
      int64_t count = 0;
      const int64_t padded = visit_window(axes, out, [&](int64_t at) {
        sum += static_cast<double>(from[at]);
        ++count;
      });
      *y++ = static_cast<T>(sum / static_cast<double>(count_padding ? padded : count));
    });
  });
}

Result<Types> infer_lp_pool(const InferContext& context) {
  ASSAY_TRY(expect_positive(context, "p"));
  return infer_pool(context);
}

// Magnitude or square, and sum, of every element of a window; a root for each output.
Cost cost_lp_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const int64_t p = context.attributes.integer("p");
  const double elements = context.output_elements(0) * window_size(context);
  cost.flops = 2 * elements;
  if (p != 1) cost.transcendentals = context.output_elements(0) + (p > 2 ? elements : 0);
  return cost;
}

Result<void> kernel_lp_pool(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const std::vector<WindowAxis> axes, resolve_window(context.attributes, shape, {}));
  const auto p = static_cast<double>(context.attributes.integer("p"));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    visit_outputs(shape, axes, [&](int64_t plane, const int64_t* out) {
      const T* from = x + plane * plane_elements(axes);
      double sum = 0;
      visit_window(axes, out, [&](int64_t at) {
        sum += std::pow(std::abs(static_cast<double>(from[at])), p);
      });
      *y++ = static_cast<T>(std::pow(sum, 1 / p));
    });
  });
}

// The sizes that MaxPool had before: (input - 1) stride + kernel - pads.
Result<Shape> unpooled_shape(const InferContext& context, const Shape& x) {
  ASSAY_ASSIGN(const WindowAttributes window,
               window_attributes(context.attributes, x.rank() - 2, {}));
  Shape y{x[0], x[1]};
  for (size_t i = 2; i < x.rank(); ++i) {
    if (!x[i].known()) {
      y.append(Dim());
      continue;
    }
    int64_t size = 0;
    if (__builtin_mul_overflow(x[i].size() - 1, window.strides[i - 2], &size) ||
        __builtin_add_overflow(size, window.kernel[i - 2], &size)) {
      return invalid("a dimension of " + x[i].text() + " strides");
    }
    size -= window.pads[i - 2] + window.pads[i - 2 + window.kernel.size()];
    if (size < 0) return invalid("attribute 'pads' takes away the whole output");
    y.append(size);
  }
  return y;
}

Result<Types> infer_max_unpool(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  const TensorType& type = context.type(0);
  if (!type.shape) return Types{TensorType::unranked(type.dtype)};
  const Shape& x = *type.shape;
  if (x.rank() < 3) return invalid("input 0 has shape " + x.text() + ", not [N, C, spatial ...]");
  if (context.type(1).shape && context.type(1).shape->known() && x.known() &&
      *context.type(1).shape != x) {
    return invalid("inputs 0 and 1 have different shapes, " + x.text() + " and " +
                   context.type(1).shape->text());
  }
  ASSAY_ASSIGN(Shape natural, unpooled_shape(context, x));
  if (!context.has(2)) return Types{TensorType(type.dtype, std::move(natural))};
  ASSAY_TRY(expect_vector(context, 2, static_cast<int64_t>(x.rank()), "output_shape"));
  const auto given = constant_integers(context, 2);
  if (!given) return Types{TensorType(type.dtype, Shape(std::vector<Dim>(x.rank())))};
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool leading = i < 2 && !may_equal(x[i], (*given)[i]);
    if (leading || (*given)[i] < 0 || (natural[i].known() && (*given)[i] < natural[i].size())) {
      return invalid("input 2 (output_shape) is smaller than " + natural.text());
    }
  }
  return Types{TensorType(type.dtype, Shape::of(*given))};
}

// Places count in the tensor that was pooled; a larger output has it in its first corner.
Result<void> kernel_max_unpool(const KernelContext& context) {
  const TensorType x = context.inputs[0]->type();
  const InferContext natural_context{std::array{&x}, {}, context.attributes};
  ASSAY_ASSIGN(const Shape natural, unpooled_shape(natural_context, *x.shape));
  const Sizes from = natural.sizes();
  const Sizes strides = packed_strides(output_shape(context, 0));
  const int64_t count = element_count(from);
  const auto places = context.inputs[1]->values<int64_t>();
  for (const int64_t place : places) {
    if (place < 0 || place >= count) {
      return invalid("place " + std::to_string(place) + " is outside a tensor of " +
                     natural.text());
    }
  }
  return dispatch_width(x.dtype, [&]<class T>() {
    T* y = output_data<T>(context, 0);
    std::fill_n(y, element_count(output_shape(context, 0)), T{0});
    for (size_t i = 0; i < places.size(); ++i) {
      int64_t rest = places[i];
      int64_t at = 0;
      for (size_t axis = from.size(); axis-- > 0;) {
        at += rest % from[axis] * strides[axis];
        rest /= from[axis];
      }
      y[at] = input_data<T>(context, 0)[i];
    }
  });
}

}  // namespace

void add_pooling_ops(OpTable& table) {
  std::vector<AttributeSpec> common = window_specs(true);
  common.push_back({"ceil_mode", AttributeType::kInt, int64_t{0}});
  std::vector<AttributeSpec> average = common;
  average.push_back({"count_include_pad", AttributeType::kInt, int64_t{0}});
  std::vector<AttributeSpec> max = common;
  max.push_back({"storage_order", AttributeType::kInt, int64_t{0}});
  std::vector<AttributeSpec> lp = common;
  lp.push_back({"p", AttributeType::kInt, int64_t{2}});
  table.add({.type = "MaxPool",
             .since_version = 12,
             .min_inputs = 1,
             .max_inputs = 1,
             .max_outputs = 2,
             .attributes = max,
             .infer = infer_max_pool,
             .cost = cost_max_pool,
             .kernel = widen16<kernel_max_pool>});
  table.add({.type = "AveragePool",
             .since_version = 19,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = average,
             .infer = infer_pool,
             .cost = cost_average_pool,
             .kernel = widen16<kernel_average_pool>});
  table.add({.type = "LpPool",
             .since_version = 18,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = lp,
             .infer = infer_lp_pool,
             .cost = cost_lp_pool,
             .kernel = widen16<kernel_lp_pool>});
  table.add({.type = "MaxUnpool",
             .since_version = 11,
             .min_inputs = 2,
             .max_inputs = 3,
             .attributes = {{"kernel_shape", AttributeType::kInts, {}, true},
                            {"pads", AttributeType::kInts, {}},
                            {"strides", AttributeType::kInts, {}}},
             .infer = infer_max_unpool,
             .kernel = kernel_max_unpool});
}

}  // namespace assay

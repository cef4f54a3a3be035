// SPDX-License-Identifier: Apache-2.0
//
// What is done along one axis: ArgMax, ArgMin, CumSum, Hardmax, TopK.
#include <algorithm>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// The elements of one line of x along the axis of `view`, `stride` apart.
template <class T>
struct Line {
  const T* data;
  int64_t size;
  int64_t stride;
  T operator[](int64_t i) const { return data[i * stride]; }
};

// Calls f(line, offset of its first element) for every line, in row-major order.
template <class T, class F>
void for_lines(const T* x, const AxisView& view, F&& f) {
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      const int64_t first = outer * view.size * view.inner + inner;
      f(Line<T>{x + first, view.size, view.inner}, first);
    }
  }
}

// ---- ArgMax, ArgMin ----

Result<Types> infer_arg(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  if (!context.type(0).shape) return Types{TensorType::unranked(DType::kI64)};
  const Shape& x = *context.type(0).shape;
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), x.rank()));
  if (x[axis].known() && x[axis].size() == 0) {
    return invalid("attribute 'axis' names a dimension of size 0");
  }
  Shape y;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != axis) {
      y.append(x[i]);
    } else if (context.attributes.integer("keepdims") != 0) {
      y.append(1);
    }
  }
  return Types{TensorType(DType::kI64, std::move(y))};
}

// n - 1 comparisons for a maximum of n.
Cost cost_arg(const CostContext& context) {
  Cost cost = context.operand_bytes();
  if (is_floating(context.inputs[0]->dtype)) {
    cost.flops = std::max(0.0, context.input_elements(0) - context.output_elements(0));
  }
  return cost;
}

template <bool largest>
Result<void> kernel_arg(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  const bool last = context.attributes.integer("select_last_index") != 0;
  int64_t* y = output_data<int64_t>(context, 0);
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    for_lines(input_data<T>(context, 0), view, [&](const Line<T>& line, int64_t) {
      int64_t best = 0;
      for (int64_t i = 1; i < line.size; ++i) {
        const bool better = largest ? line[i] > line[best] : line[i] < line[best];
        if (better || (last && line[i] == line[best])) best = i;
      }
      *y++ = best;
    });
  });
}

// ---- CumSum ----

Result<Types> infer_cumsum(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  const auto axis = constant_integers(context, 1);
  if (axis && axis->size() != 1) return invalid("input 1 (axis) is not one number");
  if (axis && context.type(0).shape) {
    ASSAY_TRY(normalized_axis(axis->front(), context.type(0).shape->rank()));
  }
  return Types{context.type(0)};
}

template <class T>
void cumulate(const Line<T>& line, T* y, bool reverse, bool exclusive) {
  Accumulator<T> sum = 0;
  for (int64_t i = 0; i < line.size; ++i) {
    const int64_t at = reverse ? line.size - 1 - i : i;
    const auto value = static_cast<Accumulator<T>>(line[at]);
    if (!exclusive) sum += value;
    y[at * line.stride] = static_cast<T>(sum);
    if (exclusive) sum += value;
  }
}

Result<void> kernel_cumsum(const KernelContext& context) {
  ASSAY_ASSIGN(const Sizes axis, as_integers(*context.inputs[1]));
  ASSAY_ASSIGN(const size_t normal, normalized_axis(axis[0], input_shape(context, 0).size()));
  const AxisView view = view_around(input_shape(context, 0), static_cast<int64_t>(normal));
  const bool reverse = context.attributes.integer("reverse") != 0;
  const bool exclusive = context.attributes.integer("exclusive") != 0;
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    for_lines(input_data<T>(context, 0), view, [&](const Line<T>& line, int64_t first) {
      cumulate(line, y + first, reverse, exclusive);
    });
  });
}

// ---- Hardmax ----

Result<Types> infer_hardmax(const InferContext& context) {
  if (context.type(0).shape) {
    const int64_t axis = context.attributes.integer("axis");
    ASSAY_TRY(normalized_axis(axis, context.type(0).shape->rank()));
  }
  return infer_same_floating(context);
}

Result<void> kernel_hardmax(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    T* y = output_data<T>(context, 0);
    for_lines(input_data<T>(context, 0), view, [&](const Line<T>& line, int64_t first) {
      int64_t best = 0;
      for (int64_t i = 0; i < line.size; ++i) {
        y[first + i * line.stride] = T{0};
        if (line[i] > line[best]) best = i;
      }
      if (line.size > 0) y[first + best * line.stride] = T{1};
    });
  });
}

// ---- TopK ----

Result<Types> infer_topk(const InferContext& context) {
  ASSAY_TRY(expect_numbers(context));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& x = context.type(0);
  const auto k = constant_integers(context, 1);
  if (k && (k->size() != 1 || k->front() < 0)) {
    return invalid("input 1 (K) is not one number of at least 0");
  }
  if (!x.shape) return Types{x, TensorType::unranked(DType::kI64)};
  Shape y = *x.shape;
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), y.rank()));
  if (k && y[axis].known() && k->front() > y[axis].size()) {
    return invalid("input 1 (K) is " + std::to_string(k->front()) + ", the dimension only " +
                   y[axis].text());
  }
  y[axis] = k ? Dim(k->front()) : Dim();
  return Types{TensorType(x.dtype, y), TensorType(DType::kI64, y)};
}

// Of equal elements the one with the lower index comes first, which ONNX asks for. NaN counts as
// the largest number.
template <class T>
void take_top(const Line<T>& line, int64_t k, bool largest, T* values, int64_t* indices) {
  std::vector<int64_t> order(static_cast<size_t>(line.size));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::partial_sort(order, order.begin() + k, [&](int64_t a, int64_t b) {
    const bool nan_a = line[a] != line[a];
    const bool nan_b = line[b] != line[b];
    if (nan_a != nan_b) return nan_a == largest;
    if (nan_a || line[a] == line[b]) return a < b;
    return largest ? line[a] > line[b] : line[a] < line[b];
  });
  for (int64_t i = 0; i < k; ++i) {
    values[i * line.stride] = line[order[static_cast<size_t>(i)]];
    indices[i * line.stride] = order[static_cast<size_t>(i)];
  }
}

Result<void> kernel_topk(const KernelContext& context) {
  const int64_t axis = context.attributes.integer("axis");
  const AxisView view = view_around(input_shape(context, 0), axis);
  const int64_t k = view_around(output_shape(context, 0), axis).size;
  if (k == 0) return {};
  const bool largest = context.attributes.integer("largest") != 0;
  const bool has_indices = context.outputs.size() > 1;
  std::vector<int64_t> unwanted;
  int64_t* indices = nullptr;
  if (has_indices) {
    indices = output_data<int64_t>(context, 1);
  } else {
    unwanted.resize(static_cast<size_t>(context.outputs[0].elements()));
    indices = unwanted.data();
  }
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    T* values = output_data<T>(context, 0);
    for_lines(input_data<T>(context, 0), view, [&](const Line<T>& line, int64_t first) {
      const int64_t to = first / (view.size * view.inner) * k * view.inner + first % view.inner;
      take_top(line, k, largest, values + to, indices + to);
    });
  });
}

}  // namespace

void add_axis_ops(OpTable& table) {
  const auto flag = [](const char* name, int64_t value) {
    return AttributeSpec{name, AttributeType::kInt, value};
  };
  const auto add = [&](const char* type, int version, size_t inputs, size_t outputs,
                       std::vector<AttributeSpec> attributes, InferFunction infer,
                       CostFunction cost, KernelFunction kernel) {
    table.add({.type = type,
               .since_version = version,
               .min_inputs = inputs,
               .max_inputs = inputs,
               .max_outputs = outputs,
               .attributes = std::move(attributes),
               .infer = infer,
               .cost = cost,
               .kernel = kernel});
  };
  const std::vector<AttributeSpec> arg{flag("axis", 0), flag("keepdims", 1),
                                       flag("select_last_index", 0)};
  add("ArgMax", 13, 1, 1, arg, infer_arg, cost_arg, widen16<kernel_arg<true>>);
  add("ArgMin", 13, 1, 1, arg, infer_arg, cost_arg, widen16<kernel_arg<false>>);
  add("CumSum", 14, 2, 1, {flag("exclusive", 0), flag("reverse", 0)}, infer_cumsum,
      cost_per_element<1, 0>, widen16<kernel_cumsum>);
  add("Hardmax", 13, 1, 1, {flag("axis", -1)}, infer_hardmax, cost_per_element<1, 0>,
      widen16<kernel_hardmax>);
  add("TopK", 11, 2, 2, {flag("axis", -1), flag("largest", 1), flag("sorted", 1)}, infer_topk,
      nullptr, widen16<kernel_topk>);
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// ReduceMean, ReduceSum, ReduceMax, ArgMax.
#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// The axes that input 1 names, ascending; all of them when it is absent or empty. Nothing when they
// are not constant.
Result<std::optional<std::vector<size_t>>> reduced_axes(const Attributes& attributes,
                                                        const std::optional<Sizes>& axes,
                                                        bool given, size_t rank) {
  if (given && !axes) return std::optional<std::vector<size_t>>();
  if (axes && !axes->empty()) {
    ASSAY_ASSIGN(auto normal, normalized_axes(*axes, rank));
    return std::optional(std::move(normal));
  }
  std::vector<size_t> all(rank);
  std::iota(all.begin(), all.end(), size_t{0});
  if (attributes.integer("noop_with_empty_axes") != 0) all.clear();
  return std::optional(std::move(all));
}

Shape without(const Shape& shape, const std::vector<size_t>& axes, bool keep) {
  Shape result;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (!std::ranges::binary_search(axes, i)) {
      result.append(shape[i]);
    } else if (keep) {
      result.append(1);
    }
  }
  return result;
}

Result<Types> infer_reduce(const InferContext& context) {
  const DType dtype = context.type(0).dtype;
  if (!is_integer(dtype) || dtype_bits(dtype) < 8) ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const bool keep = context.attributes.integer("keepdims") != 0;
  if (!context.type(0).shape) return Types{TensorType::unranked(dtype)};
  const Shape& x = *context.type(0).shape;
  ASSAY_ASSIGN(const auto axes, reduced_axes(context.attributes, constant_integers(context, 1),
                                             context.has(1), x.rank()));
  if (axes) return Types{TensorType(dtype, without(x, *axes, keep))};
  if (!keep) return Types{TensorType::unranked(dtype)};
  return Types{TensorType(dtype, Shape(std::vector<Dim>(x.rank())))};
}

// A sum or maximum of n numbers is n - 1 operations; a mean has one multiplication more.
Cost cost_reduce(const CostContext& context) {
  Cost cost = context.operand_bytes();
  if (is_floating(context.inputs[0]->dtype)) {
    cost.flops = std::max(0.0, context.input_elements(0) - context.output_elements(0));
  }
  return cost;
}
Cost cost_reduce_mean(const CostContext& context) {
  Cost cost = cost_reduce(context);
  if (is_floating(context.inputs[0]->dtype)) cost.flops += context.output_elements(0);
  return cost;
}

enum class Reduction { kMean, kSum, kMax };

template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

// Folds every element of x into its output's accumulator.
template <class T, Reduction reduction>
void reduce(const T* x, T* y, const Sizes& shape, const Sizes& strides, int64_t outputs) {
  using A = std::conditional_t<reduction == Reduction::kMax, T, Accumulator<T>>;
  const A first = reduction == Reduction::kMax ? static_cast<A>(lowest<T>()) : A{0};
  std::vector<A> totals(static_cast<size_t>(outputs), first);
  walk<1>(shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    A& total = totals[static_cast<size_t>(at[0])];
    if constexpr (reduction == Reduction::kMax) {
      if (x[i] > total || x[i] != x[i]) total = x[i];
    } else {
      total += static_cast<A>(x[i]);
    }
  });
  const int64_t count = outputs == 0 ? 1 : element_count(shape) / outputs;
  for (int64_t i = 0; i < outputs; ++i) {
    A total = totals[static_cast<size_t>(i)];
    if constexpr (reduction == Reduction::kMean && std::is_floating_point_v<T>) {
      total /= static_cast<A>(count);
    }
    T value = static_cast<T>(total);
    if constexpr (reduction == Reduction::kMean && !std::is_floating_point_v<T>) {
      if (count > 0)
        value = static_cast<T>(static_cast<double>(value) / static_cast<double>(count));
    }
    y[i] = value;
  }
}

template <Reduction reduction>
Result<void> kernel_reduce(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  std::optional<Sizes> given;
  if (context.has(1)) {
    ASSAY_ASSIGN(given, as_integers(*context.inputs[1]));
  }
  ASSAY_ASSIGN(const auto axes,
               reduced_axes(context.attributes, given, context.has(1), shape.size()));
  Sizes kept = shape;
  for (const size_t axis : *axes) kept[axis] = 1;
  Sizes strides = packed_strides(kept);
  for (const size_t axis : *axes) strides[axis] = 0;
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    reduce<T, reduction>(input_data<T>(context, 0), output_data<T>(context, 0), shape, strides,
                         element_count(kept));
  });
}

Result<Types> infer_arg_max(const InferContext& context) {
  const DType dtype = context.type(0).dtype;
  if (!is_integer(dtype) || dtype_bits(dtype) < 8) ASSAY_TRY(expect_floating(context, 0));
  if (!context.type(0).shape) return Types{TensorType::unranked(DType::kI64)};
  const Shape& x = *context.type(0).shape;
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), x.rank()));
  if (x[axis].known() && x[axis].size() == 0) return invalid("ArgMax over a dimension of size 0");
  return Types{
      TensorType(DType::kI64, without(x, {axis}, context.attributes.integer("keepdims") != 0))};
}

Result<void> kernel_arg_max(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  const bool last = context.attributes.integer("select_last_index") != 0;
  int64_t* y = output_data<int64_t>(context, 0);
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      for (int64_t inner = 0; inner < view.inner; ++inner) {
        const T* row = x + outer * view.size * view.inner + inner;
        int64_t best = 0;
        for (int64_t i = 1; i < view.size; ++i) {
          const T value = row[i * view.inner];
          const T so_far = row[best * view.inner];
          if (value > so_far || (last && value == so_far)) best = i;
        }
        *y++ = best;
      }
    }
  });
}

}  // namespace

void add_reduction_ops(OpTable& table) {
  const auto add = [&](const char* type, int version, CostFunction cost, KernelFunction kernel) {
    table.add({.type = type,
               .since_version = version,
               .min_inputs = 1,
               .max_inputs = 2,
               .attributes = {{"keepdims", AttributeType::kInt, int64_t{1}},
                              {"noop_with_empty_axes", AttributeType::kInt, int64_t{0}}},
               .infer = infer_reduce,
               .cost = cost,
               .kernel = kernel});
  };
  add("ReduceMean", 18, cost_reduce_mean, widen16<kernel_reduce<Reduction::kMean>>);
  add("ReduceSum", 13, cost_reduce, widen16<kernel_reduce<Reduction::kSum>>);
  add("ReduceMax", 20, cost_reduce, widen16<kernel_reduce<Reduction::kMax>>);
  table.add({.type = "ArgMax",
             .since_version = 13,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = {{"axis", AttributeType::kInt, int64_t{0}},
                            {"keepdims", AttributeType::kInt, int64_t{1}},
                            {"select_last_index", AttributeType::kInt, int64_t{0}}},
             .infer = infer_arg_max,
             .cost = cost_reduce,
             .kernel = widen16<kernel_arg_max>});
}

}  // namespace assay

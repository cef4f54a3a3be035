// SPDX-License-Identifier: Apache-2.0
//
// The Reduce operators: ReduceL1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

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
  ASSAY_TRY(expect_numbers(context));
  const DType dtype = context.type(0).dtype;
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

// Since version 20 also of bools: any, all.
Result<Types> infer_reduce_extreme(const InferContext& context) {
  if (context.type(0).dtype != DType::kBool) return infer_reduce(context);
  TensorType number = context.type(0);
  number.dtype = DType::kU8;
  std::vector<const TensorType*> inputs(context.inputs.begin(), context.inputs.end());
  inputs[0] = &number;
  ASSAY_ASSIGN(Types types,
               infer_reduce({inputs, context.constants, context.attributes, context.output_count}));
  types[0].dtype = DType::kBool;
  return types;
}

// Combining n numbers is n - 1 operations; `each` is what is done to every element before, `last`
// and `transcendentals` to every result. A log-sum-exp has one exp an element besides.
template <int each, int last, int transcendentals, bool exponentials = false>
Cost cost_reduce(const CostContext& context) {
  Cost cost = context.operand_bytes();
  if (!is_floating(context.inputs[0]->dtype)) return cost;
  const double elements = context.input_elements(0);
  const double results = context.output_elements(0);
  cost.flops = std::max(0.0, elements - results) + each * elements + last * results;
  cost.transcendentals = transcendentals * results + (exponentials ? elements : 0);
  return cost;
}

// ---- What is folded ----

template <class T>
T least() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <class T>
T greatest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

// Each has add(x) for every element and result(count) at the end.
template <class T>
struct SumFold {
  Accumulator<T> total = 0;
  void add(T x) { total += static_cast<Accumulator<T>>(x); }
  T result(int64_t /*count*/) const { return static_cast<T>(total); }
};
template <class T>
struct MeanFold : SumFold<T> {
  T result(int64_t count) const {
    const double n = static_cast<double>(count);
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(this->total / n);
    if constexpr (!std::is_floating_point_v<T>) {
      return count == 0 ? T{0}
                        : from_double<T>(static_cast<double>(static_cast<T>(this->total)) / n);
    }
  }
};
template <class T>
struct ProdFold {
  Accumulator<T> total = 1;
  void add(T x) { total *= static_cast<Accumulator<T>>(x); }
  T result(int64_t /*count*/) const { return static_cast<T>(total); }
};
template <class T>
struct L1Fold : SumFold<T> {
  void add(T x) {
    const auto value = static_cast<Accumulator<T>>(x);
    this->total += x < T{0} ? Accumulator<T>{0} - value : value;
  }
};
template <class T>
struct SumSquareFold : SumFold<T> {
  void add(T x) {
    const auto value = static_cast<Accumulator<T>>(x);
    this->total += value * value;
  }
};
template <class T>
struct MaxFold {
  T best = least<T>();
  void add(T x) {
    if (x > best || x != x) best = x;
  }
  T result(int64_t /*count*/) const { return best; }
};
template <class T>
struct MinFold {
  T best = greatest<T>();
  void add(T x) {
    if (x < best || x != x) best = x;
  }
  T result(int64_t /*count*/) const { return best; }
};
template <class T>
struct L2Fold {
  double total = 0;
  void add(T x) { total += static_cast<double>(x) * static_cast<double>(x); }
  T result(int64_t /*count*/) const { return from_double<T>(std::sqrt(total)); }
};
template <class T>
struct LogSumFold {
  double total = 0;
  void add(T x) { total += static_cast<double>(x); }
  T result(int64_t /*count*/) const { return from_double<T>(std::log(total)); }
};
// Keeps the sum relative to the largest exponent so far, so that exp never overflows.
template <class T>
struct LogSumExpFold {
  double largest = -std::numeric_limits<double>::infinity();
  double total = 0;
  void add(T x) {
    const auto value = static_cast<double>(x);
    if (value == largest) {
      total += 1;  // also an infinity again, whose difference would be NaN
    } else if (value > largest) {
      total = total * std::exp(largest - value) + 1;
      largest = value;
    } else {
      total += std::exp(value - largest);
    }
  }
  T result(int64_t /*count*/) const {
    return from_double<T>(total == 0 ? largest : largest + std::log(total));
  }
};

// Folds every element of x into its output's accumulator.
template <template <class> class Fold, class T>
void reduce(const T* x, T* y, const Sizes& shape, const Sizes& strides, int64_t outputs) {
  std::vector<Fold<T>> folds(static_cast<size_t>(outputs));
  walk<1>(shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    folds[static_cast<size_t>(at[0])].add(x[i]);
  });
  const int64_t count = outputs == 0 ? 1 : element_count(shape) / outputs;
  std::ranges::transform(folds, y, [count](const Fold<T>& fold) { return fold.result(count); });
}

template <template <class> class Fold>
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
    reduce<Fold, T>(input_data<T>(context, 0), output_data<T>(context, 0), shape, strides,
                    element_count(kept));
  });
}

struct Reduce {
  const char* type;
  int version;
  CostFunction cost;
  KernelFunction kernel;
  InferFunction infer = infer_reduce;
};

}  // namespace

void add_reduction_ops(OpTable& table) {
  const Reduce entries[] = {
      {"ReduceL1", 18, cost_reduce<1, 0, 0>, widen16<kernel_reduce<L1Fold>>},
      {"ReduceL2", 18, cost_reduce<1, 0, 1>, widen16<kernel_reduce<L2Fold>>},
      {"ReduceLogSum", 18, cost_reduce<0, 0, 1>, widen16<kernel_reduce<LogSumFold>>},
      {"ReduceLogSumExp", 18, cost_reduce<2, 1, 1, true>, widen16<kernel_reduce<LogSumExpFold>>},
      {"ReduceMax", 20, cost_reduce<0, 0, 0>, widen16<kernel_reduce<MaxFold>>,
       infer_reduce_extreme},
      {"ReduceMean", 18, cost_reduce<0, 1, 0>, widen16<kernel_reduce<MeanFold>>},
      {"ReduceMin", 20, cost_reduce<0, 0, 0>, widen16<kernel_reduce<MinFold>>,
       infer_reduce_extreme},
      {"ReduceProd", 18, cost_reduce<0, 0, 0>, widen16<kernel_reduce<ProdFold>>},
      {"ReduceSum", 13, cost_reduce<0, 0, 0>, widen16<kernel_reduce<SumFold>>},
      {"ReduceSumSquare", 18, cost_reduce<1, 0, 0>, widen16<kernel_reduce<SumSquareFold>>},
  };
  for (const Reduce& e : entries) {
    table.add({.type = e.type,
               .since_version = e.version,
               .min_inputs = 1,
               .max_inputs = 2,
               .attributes = {{"keepdims", AttributeType::kInt, int64_t{1}},
                              {"noop_with_empty_axes", AttributeType::kInt, int64_t{0}}},
               .infer = e.infer,
               .cost = e.cost,
               .kernel = e.kernel});
  }
}

}  // namespace assay

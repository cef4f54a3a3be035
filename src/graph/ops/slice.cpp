// SPDX-License-Identifier: Apache-2.0
//
// Slice, Pad: a part of a tensor, or a tensor with a border.
#include <algorithm>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// ---- Slice ----

struct AxisSlice {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// NumPy's rules: negative positions count from the end, then everything is clamped.
AxisSlice resolve_slice(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  AxisSlice slice{0, step, 0};
  if (step > 0) {
    slice.start = std::clamp<int64_t>(start, 0, size);
    const int64_t stop = std::clamp<int64_t>(end, 0, size);
    if (stop > slice.start) slice.count = (stop - slice.start - 1) / step + 1;
  } else {
    slice.start = std::clamp<int64_t>(start, -1, size - 1);
    const int64_t stop = std::clamp<int64_t>(end, -1, size - 1);
    if (slice.start > stop) slice.count = (slice.start - stop - 1) / -step + 1;
  }
  return slice;
}

struct SliceSpec {
  std::vector<int64_t> starts, ends, steps;
  std::vector<size_t> axes;
};

// Checks what the inputs say and completes it.
Result<SliceSpec> slice_spec(std::vector<int64_t> starts, std::vector<int64_t> ends,
                             const std::optional<std::vector<int64_t>>& axes,
                             const std::optional<std::vector<int64_t>>& steps, size_t rank) {
  SliceSpec spec{std::move(starts), std::move(ends), {}, {}};
  const size_t count = spec.starts.size();
  spec.steps = steps ? *steps : std::vector<int64_t>(count, 1);
  if (spec.ends.size() != count || spec.steps.size() != count || (axes && axes->size() != count)) {
    return invalid("starts, ends, axes and steps have different lengths");
  }
  if (!axes && count > rank) return invalid("more starts than the tensor has axes");
  for (size_t i = 0; i < count; ++i) {
    if (spec.steps[i] == 0 || spec.steps[i] == std::numeric_limits<int64_t>::min()) {
      return invalid("input 4 (steps) holds " + std::to_string(spec.steps[i]));
    }
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    ASSAY_ASSIGN(const size_t normal, normalized_axis(axis, rank, "axes"));
    if (std::ranges::find(spec.axes, normal) != spec.axes.end()) {
      return invalid("input 3 (axes) names an axis twice");
    }
    spec.axes.push_back(normal);
  }
  return spec;
}

// An unknown dimension is kept only by a slice that takes all of it.
Dim sliced(const Dim& dim, int64_t start, int64_t end, int64_t step) {
  if (dim.known()) return Dim(resolve_slice(dim.size(), start, end, step).count);
  return start == 0 && step == 1 && end >= std::numeric_limits<int32_t>::max() ? dim : Dim();
}

Result<Types> infer_slice(const InferContext& context) {
  for (size_t i = 1; i < 5; ++i) {
    ASSAY_TRY(expect_dtype(context, i, {DType::kI32, DType::kI64}));
    ASSAY_TRY(vector_length(context, i));
  }
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  const auto starts = constant_integers(context, 1);
  const auto ends = constant_integers(context, 2);
  const auto axes = constant_integers(context, 3);
  const auto steps = constant_integers(context, 4);
  if (!starts || !ends || (context.has(3) && !axes) || (context.has(4) && !steps)) {
    return Types{TensorType(x.dtype, Shape(std::vector<Dim>(x.shape->rank())))};
  }
  ASSAY_ASSIGN(const SliceSpec spec, slice_spec(*starts, *ends, axes, steps, x.shape->rank()));
  Shape y = *x.shape;
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    Dim& dim = y[spec.axes[i]];
    dim = sliced(dim, spec.starts[i], spec.ends[i], spec.steps[i]);
  }
  return Types{TensorType(x.dtype, std::move(y))};
}

// What is left out is not read.
Cost cost_slice(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.read_bytes = cost.write_bytes;
  return cost;
}

Result<std::optional<Sizes>> optional_integers(const KernelContext& context, size_t input) {
  if (!context.has(input)) return std::optional<Sizes>();
  ASSAY_ASSIGN(Sizes values, as_integers(*context.inputs[input]));
  return std::optional<Sizes>(std::move(values));
}

// How a slice lies in the whole tensor.
struct SlicedWalk {
  bool empty = false;
  int64_t first = 0;
  Sizes strides;
  Sizes counts;  // the slice's own shape
};

// `shape` is the whole tensor's; starts, ends, axes and steps are the inputs from `input` on.
Result<SlicedWalk> sliced_walk(const KernelContext& context, const Sizes& shape, size_t input) {
  ASSAY_ASSIGN(Sizes starts, as_integers(*context.inputs[input]));
  ASSAY_ASSIGN(Sizes ends, as_integers(*context.inputs[input + 1]));
  ASSAY_ASSIGN(const auto axes, optional_integers(context, input + 2));
  ASSAY_ASSIGN(const auto steps, optional_integers(context, input + 3));
  ASSAY_ASSIGN(const SliceSpec spec,
               slice_spec(std::move(starts), std::move(ends), axes, steps, shape.size()));
  SlicedWalk result{false, 0, packed_strides(shape), shape};
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    const size_t axis = spec.axes[i];
    const AxisSlice s = resolve_slice(shape[axis], spec.starts[i], spec.ends[i], spec.steps[i]);
    if (s.count == 0) result.empty = true;
    result.counts[axis] = s.count;
    result.first += s.start * result.strides[axis];
    result.strides[axis] = s.count == 1 ? 0 : result.strides[axis] * s.step;
  }
  return result;
}

Result<void> kernel_slice(const KernelContext& context) {
  ASSAY_ASSIGN(const SlicedWalk sliced, sliced_walk(context, input_shape(context, 0), 1));
  if (sliced.empty) return {};  // nothing to write
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    walk<1>(output_shape(context, 0), {sliced.strides},
            [&](int64_t i, const std::array<int64_t, 1>& at) { y[i] = x[sliced.first + at[0]]; });
  });
}

// ---- SliceGradient: the inputs are dy, the shape of x, then Slice's after x ----

Result<Types> infer_slice_gradient(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const DType dtype = context.type(0).dtype;
  const auto sizes = constant_integers(context, 1);
  if (!sizes) return Types{TensorType::unranked(dtype)};
  for (const int64_t size : *sizes) {
    if (size < 0) return invalid("input 1 (shape) holds " + std::to_string(size));
  }
  return Types{TensorType(dtype, Shape::of(*sizes))};
}

Result<void> kernel_slice_gradient(const KernelContext& context) {
  std::memset(context.outputs[0].data(), 0, static_cast<size_t>(context.outputs[0].bytes()));
  ASSAY_ASSIGN(const SlicedWalk sliced, sliced_walk(context, output_shape(context, 0), 2));
  if (sliced.counts != input_shape(context, 0)) {
    return invalid("input 0 does not have the shape of the slice");
  }
  if (sliced.empty) return {};
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* dy = input_data<T>(context, 0);
    T* dx = output_data<T>(context, 0);
    walk<1>(input_shape(context, 0), {sliced.strides},
            [&](int64_t i, const std::array<int64_t, 1>& at) { dx[sliced.first + at[0]] = dy[i]; });
  });
}

// ---- Pad ----

constexpr int64_t kLargestPad = int64_t{1} << 40;

// Begin and end of every axis; those not named have none.
Result<std::vector<std::pair<int64_t, int64_t>>> all_pads(
    const std::vector<int64_t>& pads, const std::optional<std::vector<int64_t>>& axes,
    size_t rank) {
  const size_t count = axes ? axes->size() : rank;
  if (pads.size() != 2 * count) {
    return invalid("input 1 (pads) has " + std::to_string(pads.size()) + " numbers where " +
                   std::to_string(2 * count) + " are needed");
  }
  std::vector<std::pair<int64_t, int64_t>> result(rank);
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < count; ++i) {
    const int64_t given = axes ? (*axes)[i] : static_cast<int64_t>(i);
    ASSAY_ASSIGN(const size_t axis, normalized_axis(given, rank, "axes"));
    if (seen[axis]) return invalid("input 3 (axes) names an axis twice");
    seen[axis] = true;
    for (const int64_t pad : {pads[i], pads[i + count]}) {
      if (pad < -kLargestPad || pad > kLargestPad) {
        return invalid("input 1 (pads) holds " + std::to_string(pad));
      }
    }
    result[axis] = {pads[i], pads[i + count]};
  }
  return result;
}

Result<Dim> padded(const Dim& dim, std::pair<int64_t, int64_t> pad, bool constant) {
  if (!dim.known()) return pad == std::pair<int64_t, int64_t>{} ? dim : Dim();
  int64_t size = 0;
  if (__builtin_add_overflow(dim.size(), pad.first + pad.second, &size) || size < 0) {
    return invalid("a dimension of " + dim.text() + " padded by " + std::to_string(pad.first) +
                   " and " + std::to_string(pad.second));
  }
  if (!constant && dim.size() == 0 && size > 0) {
    return invalid("attribute 'mode' needs data, and a dimension is 0");
  }
  return Dim(size);
}

Result<Types> infer_pad(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(expect_dtype(context, 3, {DType::kI32, DType::kI64}));
  const std::string& mode = context.attributes.string("mode");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return invalid("attribute 'mode' is '" + mode + "', not constant, reflect, edge or wrap");
  }
  if (context.has(2) && context.type(2).known() && *context.type(2).shape->elements() != 1) {
    return invalid("input 2 (constant_value) has shape " + context.type(2).shape->text() +
                   " where one element is needed");
  }
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  const auto pads = constant_integers(context, 1);
  const auto axes = constant_integers(context, 3);
  if (!pads || (context.has(3) && !axes)) {
    return Types{TensorType(x.dtype, Shape(std::vector<Dim>(x.shape->rank())))};
  }
  ASSAY_ASSIGN(const auto all, all_pads(*pads, axes, x.shape->rank()));
  Shape y;
  for (size_t i = 0; i < all.size(); ++i) {
    ASSAY_ASSIGN(Dim dim, padded((*x.shape)[i], all[i], mode == "constant"));
    y.append(std::move(dim));
  }
  return Types{TensorType(x.dtype, std::move(y))};
}

// The input position that each output position of one axis shows; -1 for the constant.
Sizes source_positions(int64_t size, std::pair<int64_t, int64_t> pad, const std::string& mode) {
  Sizes positions;
  for (int64_t out = 0; out < size + pad.first + pad.second; ++out) {
    int64_t at = out - pad.first;
    if (at < 0 || at >= size) {
      if (mode == "constant") {
        at = -1;
      } else if (mode == "edge") {
        at = std::clamp<int64_t>(at, 0, size - 1);
      } else if (mode == "wrap") {
        at = (at % size + size) % size;
      } else {  // reflect, without repeating the edge
        const int64_t period = std::max<int64_t>(2 * (size - 1), 1);
        at = (at % period + period) % period;
        at = std::min(at, period - at);
        if (size == 1) at = 0;
      }
    }
    positions.push_back(at);
  }
  return positions;
}

template <class T>
void pad_tensor(const KernelContext& context, const std::vector<Sizes>& positions) {
  const Sizes strides = packed_strides(input_shape(context, 0));
  const T fill = context.has(2) ? input_data<T>(context, 2)[0] : T{0};
  const T* x = input_data<T>(context, 0);
  T* y = output_data<T>(context, 0);
  const Sizes& shape = output_shape(context, 0);
  const Sizes out_strides = packed_strides(shape);
  const int64_t count = element_count(shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    bool inside = true;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t index = i / out_strides[axis] % shape[axis];
      const int64_t at = positions[axis][static_cast<size_t>(index)];
      inside = inside && at >= 0;
      from += at * strides[axis];
    }
    y[i] = inside ? x[from] : fill;
  }
}

Result<void> kernel_pad(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const Sizes pads, as_integers(*context.inputs[1]));
  ASSAY_ASSIGN(const auto axes, optional_integers(context, 3));
  ASSAY_ASSIGN(const auto all, all_pads(pads, axes, shape.size()));
  const std::string& mode = context.attributes.string("mode");
  std::vector<Sizes> positions;
  if (element_count(output_shape(context, 0)) == 0) return {};
  positions.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    positions.push_back(source_positions(shape[i], all[i], mode));
  }
  return dispatch_width(context.inputs[0]->dtype(),
                        [&]<class T>() { pad_tensor<T>(context, positions); });
}

}  // namespace

void add_slice_ops(OpTable& table) {
  table.add({.type = "Slice",
             .since_version = 13,
             .min_inputs = 3,
             .max_inputs = 5,
             .infer = infer_slice,
             .cost = cost_slice,
             .kernel = widen4<kernel_slice>});
  table.add({.domain = "assay",
             .type = "SliceGradient",
             .min_inputs = 4,
             .max_inputs = 6,
             .infer = infer_slice_gradient,
             .kernel = kernel_slice_gradient});
  table.add({.type = "Pad",
             .since_version = 21,
             .min_inputs = 2,
             .max_inputs = 4,
             .attributes = {{"mode", AttributeType::kString, "constant"}},
             .infer = infer_pad,
             .kernel = widen4<kernel_pad>});
}

}  // namespace assay

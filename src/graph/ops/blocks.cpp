// SPDX-License-Identifier: Apache-2.0
//
// Elements moved or dropped by position: DepthToSpace, SpaceToDepth, Tile, ReverseSequence, Trilu,
// EyeLike.
#include <algorithm>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// ---- DepthToSpace, SpaceToDepth ----

Result<int64_t> block_size(const Attributes& attributes) {
  const int64_t size = attributes.integer("blocksize");
  if (size < 1 || size > std::numeric_limits<int32_t>::max()) {
    return invalid("attribute 'blocksize' is " + std::to_string(size));
  }
  return size;
}

Result<Dim> divided(const Dim& dim, int64_t by) {
  if (!dim.known()) return by == 1 ? dim : Dim();
  if (dim.size() % by == 0) return Dim(dim.size() / by);
  return invalid("attribute 'blocksize' does not divide a dimension of " + dim.text() + " into " +
                 std::to_string(by));
}

Result<Dim> multiplied(const Dim& dim, int64_t by) {
  if (!dim.known()) return by == 1 ? dim : Dim();
  int64_t size = 0;
  if (__builtin_mul_overflow(dim.size(), by, &size)) {
    return invalid("a dimension of " + dim.text() + " times " + std::to_string(by) +
                   " is too large");
  }
  return Dim(size);
}

template <bool to_space>
Result<Types> infer_blocks(const InferContext& context) {
  ASSAY_ASSIGN(const int64_t block, block_size(context.attributes));
  if (to_space) {
    const std::string& mode = context.attributes.string("mode");
    if (mode != "DCR" && mode != "CRD") {
      return invalid("attribute 'mode' is '" + mode + "', not DCR or CRD");
    }
  }
  ASSAY_TRY(expect_rank(context, 0, 4));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{TensorType(x.dtype, Shape(std::vector<Dim>(4)))};
  Shape y = *x.shape;
  ASSAY_ASSIGN(y[1], to_space ? divided(y[1], block * block) : multiplied(y[1], block * block));
  ASSAY_ASSIGN(y[2], to_space ? multiplied(y[2], block) : divided(y[2], block));
  ASSAY_ASSIGN(y[3], to_space ? multiplied(y[3], block) : divided(y[3], block));
  return Types{TensorType(x.dtype, std::move(y))};
}

// Walks the flat tensor [N, a, b, c, H, block, W, block]-wise: `dims` and `strides` describe how
// the packed output's indices read the input.
Result<void> copy_strided(const KernelContext& context, const Sizes& dims, const Sizes& strides) {
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    walk<1>(dims, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) { y[i] = x[at[0]]; });
  });
}

Result<void> kernel_depth_to_space(const KernelContext& context) {
  const Sizes& in = input_shape(context, 0);
  const int64_t b = context.attributes.integer("blocksize");
  const int64_t c = in[1] / (b * b);
  const int64_t plane = in[2] * in[3];
  // The channel is (row in block, column in block, c) in DCR order, (c, row, column) in CRD.
  const bool dcr = context.attributes.string("mode") == "DCR";
  const int64_t row = dcr ? b * c * plane : b * plane;
  const int64_t column = dcr ? c * plane : plane;
  const int64_t channel = dcr ? plane : b * b * plane;
  return copy_strided(context, {in[0], c, in[2], b, in[3], b},
                      {in[1] * plane, channel, in[3], row, 1, column});
}

Result<void> kernel_space_to_depth(const KernelContext& context) {
  const Sizes& in = input_shape(context, 0);
  const int64_t b = context.attributes.integer("blocksize");
  const int64_t plane = in[2] * in[3];
  return copy_strided(context, {in[0], b, b, in[1], in[2] / b, in[3] / b},
                      {in[1] * plane, in[3], 1, plane, b * in[3], b});
}

// ---- Tile ----

Result<Types> infer_tile(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_rank(context, 1, 1));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  const auto repeats = constant_integers(context, 1);
  if (!repeats) return Types{TensorType(x.dtype, Shape(std::vector<Dim>(x.shape->rank())))};
  if (repeats->size() != x.shape->rank()) {
    return invalid("input 1 (repeats) has " + std::to_string(repeats->size()) +
                   " numbers for shape " + x.shape->text());
  }
  Shape y;
  for (size_t i = 0; i < repeats->size(); ++i) {
    if ((*repeats)[i] < 0) return invalid("input 1 (repeats) holds a negative number");
    ASSAY_ASSIGN(Dim dim, multiplied((*x.shape)[i], (*repeats)[i]));
    y.append(std::move(dim));
  }
  return Types{TensorType(x.dtype, std::move(y))};
}

Result<void> kernel_tile(const KernelContext& context) {
  const Sizes& in = input_shape(context, 0);
  const Sizes& out = output_shape(context, 0);
  if (element_count(out) == 0) return {};
  const Sizes packed = packed_strides(in);
  Sizes dims;
  Sizes strides;
  for (size_t axis = 0; axis < in.size(); ++axis) {  // each axis is (repeat, position)
    dims.push_back(out[axis] / in[axis]);
    dims.push_back(in[axis]);
    strides.push_back(0);
    strides.push_back(packed[axis]);
  }
  return copy_strided(context, dims, strides);
}

// ---- ReverseSequence ----

Result<Types> infer_reverse_sequence(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const int64_t batch = context.attributes.integer("batch_axis");
  const int64_t time = context.attributes.integer("time_axis");
  if (!(batch == 0 && time == 1) && !(batch == 1 && time == 0)) {
    return invalid("attributes 'batch_axis' and 'time_axis' must be 0 and 1 in some order");
  }
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  if (x.shape->rank() < 2) return invalid("input 0 has shape " + x.shape->text());
  ASSAY_TRY(expect_vector(context, 1, (*x.shape)[static_cast<size_t>(batch)], "sequence_lens"));
  return Types{x};
}

Result<void> kernel_reverse_sequence(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const bool time_first = context.attributes.integer("time_axis") == 0;
  const int64_t times = time_first ? shape[0] : shape[1];
  const int64_t batches = time_first ? shape[1] : shape[0];
  const int64_t inner = element_count(Sizes(shape.begin() + 2, shape.end()));
  const int64_t time_stride = time_first ? batches * inner : inner;
  const int64_t batch_stride = time_first ? inner : times * inner;
  ASSAY_ASSIGN(const Sizes lengths, as_integers(*context.inputs[1]));
  for (const int64_t length : lengths) {
    if (length < 0 || length > times) {
      return invalid("input 1 (sequence_lens) holds " + std::to_string(length));
    }
  }
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    for (int64_t b = 0; b < batches; ++b) {
      const int64_t length = lengths[static_cast<size_t>(b)];
      for (int64_t t = 0; t < times; ++t) {
        const int64_t from = t < length ? length - 1 - t : t;
        std::copy_n(x + b * batch_stride + from * time_stride, inner,
                    y + b * batch_stride + t * time_stride);
      }
    }
  });
}

// ---- Trilu ----

Result<Types> infer_trilu(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  const TensorType& x = context.type(0);
  if (x.shape && x.shape->rank() < 2) return invalid("input 0 has shape " + x.shape->text());
  return Types{x};
}

Result<void> kernel_trilu(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const int64_t columns = shape.back();
  const int64_t rows = shape[shape.size() - 2];
  // Diagonals further away than the corners are all alike.
  const int64_t given = context.has(1) ? input_data<int64_t>(context, 1)[0] : 0;
  const int64_t k = std::clamp(given, -rows - 1, columns + 1);
  const bool upper = context.attributes.integer("upper") != 0;
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    T* y = output_data<T>(context, 0);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t diagonal = at % columns - at / columns % rows;
      y[i] = (upper ? diagonal >= k : diagonal <= k) ? x[i] : T{0};
    }
  });
}

// ---- EyeLike ----

Result<Types> infer_eye_like(const InferContext& context) {
  ASSAY_TRY(expect_rank(context, 0, 2));
  TensorType type = context.type(0);
  if (context.attributes.has("dtype")) {
    const auto dtype = dtype_from_onnx(context.attributes.integer("dtype"));
    if (!dtype) return invalid("attribute 'dtype' is not the number of an element type");
    type.dtype = *dtype;
  }
  if (type.dtype != DType::kBool && dtype_bits(type.dtype) < 8) {
    return Error{ErrorCode::kUnsupported, "attribute 'dtype' is a 4-bit type"};
  }
  return Types{type};
}

Result<void> kernel_eye_like(const KernelContext& context) {
  Tensor& y = context.outputs[0];
  const int64_t columns = y.shape()[1];
  const int64_t k = context.attributes.integer("k");
  const auto fill = [&]<class T>() {
    T* out = y.values<T>().data();
    for (int64_t i = 0; i < y.elements(); ++i) {
      out[i] = i % columns - i / columns == k ? T{1} : T{0};
    }
  };
  return dispatch_arithmetic(y.dtype(), fill);
}

}  // namespace

void add_block_ops(OpTable& table) {
  const auto add = [&](const char* type, int version, size_t min_inputs, size_t max_inputs,
                       std::vector<AttributeSpec> attributes, InferFunction infer,
                       KernelFunction kernel) {
    table.add({.type = type,
               .since_version = version,
               .min_inputs = min_inputs,
               .max_inputs = max_inputs,
               .attributes = std::move(attributes),
               .infer = infer,
               .kernel = kernel});
  };
  const AttributeSpec block{"blocksize", AttributeType::kInt, {}, true};
  add("DepthToSpace", 13, 1, 1, {block, {"mode", AttributeType::kString, "DCR"}},
      infer_blocks<true>, kernel_depth_to_space);
  add("SpaceToDepth", 13, 1, 1, {block}, infer_blocks<false>, kernel_space_to_depth);
  add("Tile", 13, 2, 2, {}, infer_tile, kernel_tile);
  add("ReverseSequence", 10, 2, 2,
      {{"batch_axis", AttributeType::kInt, int64_t{1}},
       {"time_axis", AttributeType::kInt, int64_t{0}}},
      infer_reverse_sequence, kernel_reverse_sequence);
  add("Trilu", 14, 1, 2, {{"upper", AttributeType::kInt, int64_t{1}}}, infer_trilu, kernel_trilu);
  add("EyeLike", 9, 1, 1,
      {{"dtype", AttributeType::kInt, {}}, {"k", AttributeType::kInt, int64_t{0}}}, infer_eye_like,
      widen16<kernel_eye_like>);
}

}  // namespace assay

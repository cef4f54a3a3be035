// SPDX-License-Identifier: Apache-2.0
//
// Col2Im (overlapping blocks added into an image) and CenterCropPad. Source: ONNX operators of
// version 18.
#include <algorithm>
#include <numeric>

#include "graph/ops/convolution.h"
#include "graph/ops/families.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// The windows of a convolution over the image, one output position a block.
Result<ConvSizes> block_windows(const Attributes& attributes, const Sizes& image,
                                const Sizes& block) {
  if (image.size() != block.size() || image.empty()) {
    return invalid("input 1 (image_shape) and 2 (block_shape) have different lengths");
  }
  Sizes shape{1, 1};
  shape.insert(shape.end(), image.begin(), image.end());
  ConvSizes sizes;
  ASSAY_ASSIGN(sizes.axes, resolve_window(attributes, shape, block));
  return sizes;
}

bool fits(const ConvSizes& sizes, const Dim& rows, const Dim& blocks) {
  return (!rows.known() || rows.size() % sizes.taps() == 0) && may_equal(blocks, sizes.out_plane());
}

// Inputs x [N, C * block, blocks], image_shape, block_shape.
Result<Types> infer_col2im(const InferContext& context) {
  const TensorType& x = context.type(0);
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  ASSAY_TRY(expect_rank(context, 0, 3));
  ASSAY_ASSIGN(const auto length, vector_length(context, 1));
  if (!length) return Types{TensorType::unranked(x.dtype)};
  if (*length < 1 || *length > 3) {
    return Error{ErrorCode::kUnsupported,
                 "input 1 (image_shape) has " + std::to_string(*length) + " axes, not 1 to 3"};
  }
  ASSAY_TRY(expect_vector(context, 2, *length, "block_shape"));
  const auto image = constant_integers(context, 1);
  const auto block = constant_integers(context, 2);
  Shape y{x.shape ? (*x.shape)[0] : Dim(), Dim()};
  for (size_t i = 0; i < static_cast<size_t>(*length); ++i) {
    if (image && (*image)[i] < 0) return invalid("input 1 (image_shape) holds a negative number");
    y.append(image ? Dim((*image)[i]) : Dim());
  }
  if (!image || !block) return Types{TensorType(x.dtype, y)};
  ASSAY_ASSIGN(const ConvSizes sizes, block_windows(context.attributes, *image, *block));
  double taps = 1;
  double blocks = 1;
  for (const WindowAxis& axis : sizes.axes) {
    taps *= static_cast<double>(axis.kernel);
    blocks *= static_cast<double>(axis.output);
  }
  if (taps > 9e18 || blocks > 9e18) return invalid("more blocks than can be counted");
  if (x.shape && !fits(sizes, (*x.shape)[1], (*x.shape)[2])) {
    return invalid("input 0 has shape " + x.shape->text() + ", which is not a number of " +
                   std::to_string(sizes.out_plane()) + " blocks of " +
                   std::to_string(sizes.taps()));
  }
  if (x.shape && (*x.shape)[1].known()) y[1] = (*x.shape)[1].size() / sizes.taps();
  return Types{TensorType(x.dtype, y)};
}

// Every element is added once, those on padding too.
Cost cost_col2im(const CostContext& context) {
  Cost cost = context.operand_bytes();
  if (is_floating(context.inputs[0]->dtype)) cost.flops = context.input_elements(0);
  return cost;
}

Result<void> kernel_col2im(const KernelContext& context) {
  ASSAY_ASSIGN(const Sizes image, as_integers(*context.inputs[1]));
  ASSAY_ASSIGN(const Sizes block, as_integers(*context.inputs[2]));
  ASSAY_ASSIGN(const ConvSizes sizes, block_windows(context.attributes, image, block));
  const Sizes& y_shape = output_shape(context, 0);
  return dispatch_arithmetic(context.inputs[0]->dtype(), [&]<class T>() {
    std::vector<Accumulator<T>> sums(static_cast<size_t>(sizes.in_plane()));
    for (int64_t plane = 0; plane < y_shape[0] * y_shape[1]; ++plane) {
      const T* x = input_data<T>(context, 0) + plane * sizes.taps() * sizes.out_plane();
      std::ranges::fill(sums, Accumulator<T>{});
      visit_positions(sizes, [&](const std::array<int64_t, 3>& out, int64_t index) {
        visit_taps(sizes, out, [&](int64_t at, int64_t tap) {
          sums[static_cast<size_t>(at)] +=
              static_cast<Accumulator<T>>(x[tap * sizes.out_plane() + index]);
        });
      });
      std::ranges::transform(sums, output_data<T>(context, 0) + plane * sizes.in_plane(),
                             [](auto sum) { return static_cast<T>(sum); });
    }
  });
}

// The axes that input 1 has sizes for, in the attribute's order.
Result<std::vector<size_t>> cropped_axes(const Attributes& attributes, size_t rank) {
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  if (!attributes.has("axes")) return axes;
  axes.clear();
  for (const int64_t axis : attributes.integers("axes")) {
    ASSAY_ASSIGN(const size_t a, normalized_axis(axis, rank, "axes"));
    axes.push_back(a);
  }
  return axes;
}

Result<Types> infer_center_crop_pad(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  Shape y = *x.shape;
  ASSAY_ASSIGN(const std::vector<size_t> axes, cropped_axes(context.attributes, y.rank()));
  ASSAY_TRY(expect_vector(context, 1, static_cast<int64_t>(axes.size()), "shape"));
  const auto sizes = constant_integers(context, 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes && (*sizes)[i] < 0) return invalid("input 1 (shape) holds a negative number");
    y[axes[i]] = sizes ? Dim((*sizes)[i]) : Dim();
  }
  return Types{TensorType(x.dtype, std::move(y))};
}

// Cropping starts at half of what is too much, padding at half of what is missing, rounded down.
Result<void> kernel_center_crop_pad(const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  const Sizes& y = output_shape(context, 0);
  Sizes common(x.size());
  for (size_t i = 0; i < x.size(); ++i) common[i] = std::min(x[i], y[i]);
  const std::array<Sizes, 2> strides{packed_strides(x), packed_strides(y)};
  int64_t from = 0;
  int64_t to = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    from += (x[i] - common[i]) / 2 * strides[0][i];
    to += (y[i] - common[i]) / 2 * strides[1][i];
  }
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    const T* data = input_data<T>(context, 0) + from;
    T* out = output_data<T>(context, 0);
    std::fill_n(out, element_count(y), T{0});
    walk<2>(common, strides,
            [&](int64_t, const std::array<int64_t, 2>& at) { out[to + at[1]] = data[at[0]]; });
  });
}

}  // namespace

void add_patch_ops(OpTable& table) {
  table.add({.type = "Col2Im",
             .since_version = 18,
             .min_inputs = 3,
             .max_inputs = 3,
             .attributes = {{"dilations", AttributeType::kInts, {}},
                            {"pads", AttributeType::kInts, {}},
                            {"strides", AttributeType::kInts, {}}},
             .infer = infer_col2im,
             .cost = cost_col2im,
             .kernel = widen16<kernel_col2im>});
  table.add({.type = "CenterCropPad",
             .since_version = 18,
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"axes", AttributeType::kInts, {}}},
             .infer = infer_center_crop_pad,
             .kernel = kernel_center_crop_pad});
}

}  // namespace assay

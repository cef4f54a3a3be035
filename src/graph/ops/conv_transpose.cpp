// SPDX-License-Identifier: Apache-2.0
//
// ConvTranspose, and the two gradients of a convolution: assay.ConvInputGradient (a transposed
// convolution whose output size is given) and assay.ConvWeightGradient. All three walk over the
// forward convolution, whose "input" is the larger side.
#include <algorithm>

#include "graph/ops/convolution.h"
#include "graph/ops/families.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

constexpr int64_t kLargestSize = int64_t{1} << 62;

// The transposed direction of one axis: `out` is the side that the windows lie on.
struct TransposedAxis {
  int64_t out = 0;
  int64_t pad_begin = 0;
};

Result<std::vector<int64_t>> optional_list(const Attributes& attributes, const std::string& name,
                                           size_t count) {
  if (!attributes.has(name)) return std::vector<int64_t>();
  const std::vector<int64_t>& values = attributes.integers(name);
  if (values.size() != count) {
    return invalid("attribute '" + name + "' has " + std::to_string(values.size()) +
                   " numbers where " + std::to_string(count) + " are needed");
  }
  for (const int64_t value : values) {
    if (value < 0 || value > kLargestSize) {
      return invalid("attribute '" + name + "' holds " + std::to_string(value));
    }
  }
  return values;
}

struct TransposeAttributes {
  WindowAttributes window;
  std::vector<int64_t> output_padding;  // empty: zeros
  std::vector<int64_t> output_shape;    // empty: from the pads
};

Result<TransposeAttributes> transpose_attributes(const Attributes& attributes, size_t rank,
                                                 std::vector<int64_t> kernel) {
  TransposeAttributes t;
  ASSAY_ASSIGN(t.window, window_attributes(attributes, rank, std::move(kernel)));
  ASSAY_ASSIGN(t.output_padding, optional_list(attributes, "output_padding", rank));
  ASSAY_ASSIGN(t.output_shape, optional_list(attributes, "output_shape", rank));
  return t;
}

// Output size and leading padding of one axis, from ONNX's formulas for ConvTranspose.
Result<TransposedAxis> transposed_axis(const TransposeAttributes& t, size_t axis, int64_t input) {
  const WindowAttributes& window = t.window;
  const int64_t span = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
  int64_t full = 0;  // without padding
  if (__builtin_mul_overflow(std::max<int64_t>(input - 1, 0), window.strides[axis], &full) ||
      full > kLargestSize / 2) {
    return invalid("an output of " + std::to_string(input) + " strides");
  }
  full += span + (t.output_padding.empty() ? 0 : t.output_padding[axis]);
  const bool upper = window.auto_pad == "SAME_UPPER";
  const bool same = upper || window.auto_pad == "SAME_LOWER";
  if (t.output_shape.empty() && !same) {
    const bool padded = window.auto_pad == "NOTSET";
    const int64_t begin = padded ? window.pads[axis] : 0;
    const int64_t end = padded ? window.pads[axis + window.kernel.size()] : 0;
    if (full <= begin + end) {
      return invalid("attribute 'pads' takes away the whole output of " + std::to_string(full));
    }
    return TransposedAxis{full - begin - end, begin};
  }
  const int64_t out = t.output_shape.empty() ? input * window.strides[axis] : t.output_shape[axis];
  const int64_t total = std::max<int64_t>(full - out, 0);
  return TransposedAxis{out, upper ? total / 2 : total - total / 2};
}

Result<void> check_transposed_channels(const Shape& x, const Shape& w, int64_t group) {
  if (group < 1) return invalid("attribute 'group' is " + std::to_string(group));
  if (!may_equal(x[1], w[0])) {
    return invalid("input " + x.text() + " has " + x[1].text() + " channels where weight " +
                   w.text() + " needs " + w[0].text());
  }
  if (w[0].known() && w[0].size() % group != 0) {
    return invalid("attribute 'group' " + std::to_string(group) + " does not divide the " +
                   w[0].text() + " input channels");
  }
  return {};
}

// w [C, M / group, ...] has M filters.
Result<Dim> transposed_filters(const Shape& w, int64_t group) {
  if (!w[1].known()) return group == 1 ? w[1] : Dim();
  int64_t filters = 0;
  if (__builtin_mul_overflow(w[1].size(), group, &filters)) {
    return invalid("attribute 'group' " + std::to_string(group) + " times " + w[1].text());
  }
  return Dim(filters);
}

Result<void> expect_floating_operands(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  if (context.has(0) && context.type(0).shape && context.type(0).shape->rank() < 3) {
    return invalid("input 0 has shape " + context.type(0).shape->text() +
                   ", not [N, C, spatial ...]");
  }
  return {};
}

Result<Types> infer_conv_transpose(const InferContext& context) {
  ASSAY_TRY(expect_floating_operands(context));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  const DType dtype = context.type(0).dtype;
  if (!context.type(0).shape || !context.type(1).shape) return Types{TensorType::unranked(dtype)};
  const Shape& x = *context.type(0).shape;
  const Shape& w = *context.type(1).shape;
  ASSAY_TRY(expect_rank(context, 1, x.rank()));
  const int64_t group = context.attributes.integer("group");
  ASSAY_TRY(check_transposed_channels(x, w, group));
  ASSAY_ASSIGN(const Dim filters, transposed_filters(w, group));
  ASSAY_TRY(expect_vector(context, 2, filters, "bias"));
  Shape y{x[0], filters};
  const auto kernel = kernel_of(w);
  const bool sized = kernel || context.attributes.has("kernel_shape");
  TransposeAttributes t;
  if (sized) {
    ASSAY_ASSIGN(t, transpose_attributes(context.attributes, x.rank() - 2,
                                         kernel.value_or(std::vector<int64_t>())));
  }
  for (size_t i = 2; i < x.rank(); ++i) {
    if (!sized || !x[i].known()) {
      y.append(sized && !t.output_shape.empty() ? Dim(t.output_shape[i - 2]) : Dim());
      continue;
    }
    ASSAY_ASSIGN(const TransposedAxis axis, transposed_axis(t, i - 2, x[i].size()));
    y.append(axis.out);
  }
  return Types{TensorType(dtype, y)};
}

// Every element of the smaller side meets every tap of its filters once.
Cost cost_transposed(const CostContext& context, double elements) {
  Cost cost = context.operand_bytes();
  const Shape& w = *context.inputs[1]->shape;
  double per_element = 1;
  for (size_t i = 1; i < w.rank(); ++i) per_element *= static_cast<double>(w[i].size());
  cost.macs = elements * per_element;
  cost.flops = 2 * cost.macs;
  return cost;
}

Cost cost_conv_transpose(const CostContext& context) {
  Cost cost = cost_transposed(context, context.input_elements(0));
  if (context.has(2)) cost.flops += context.output_elements(0);
  return cost;
}

// The forward convolution that maps `large` to `small`, both [N, C, ...].
Result<ConvSizes> forward_sizes(const TransposeAttributes& t, const Sizes& small,
                                const Sizes& large, int64_t group) {
  const size_t rank = small.size() - 2;
  if (rank > 3) {
    return Error{ErrorCode::kUnsupported,
                 "no reference kernel for " + std::to_string(rank) + " spatial axes"};
  }
  ConvSizes sizes{small[0], large[1], small[1], group, std::vector<WindowAxis>(3 - rank)};
  for (size_t i = 0; i < rank; ++i) {
    ASSAY_ASSIGN(const TransposedAxis transposed, transposed_axis(t, i, small[i + 2]));
    WindowAxis axis;
    axis.input = large[i + 2];
    axis.kernel = t.window.kernel[i];
    axis.stride = t.window.strides[i];
    axis.dilation = t.window.dilations[i];
    axis.pad_begin = transposed.pad_begin;
    axis.output = small[i + 2];
    sizes.axes.push_back(axis);
  }
  return sizes;
}

// Adds w x small to `large` (zero before).
template <class T>
void scatter(const ConvSizes& s, const T* small, const T* w, std::vector<double>& large) {
  visit_planes(s, [&](int64_t n, int64_t m, int64_t plane, int64_t weights) {
    const T* from = small + (n * s.out_channels + m) * s.out_plane();
    visit_positions(s, [&](const std::array<int64_t, 3>& out, int64_t index) {
      const auto value = static_cast<double>(from[index]);
      visit_taps(s, out, [&](int64_t at, int64_t tap) {
        large[static_cast<size_t>(plane + at)] += value * static_cast<double>(w[weights + tap]);
      });
    });
  });
}

// small [N, C, ...] through the transpose of the convolution into output 0; bias may be null.
template <class T>
void transposed(const KernelContext& context, const ConvSizes& sizes, const T* bias) {
  std::vector<double> sums(static_cast<size_t>(element_count(output_shape(context, 0))), 0.0);
  scatter(sizes, input_data<T>(context, 0), input_data<T>(context, 1), sums);
  T* y = output_data<T>(context, 0);
  const int64_t plane = sizes.in_plane();
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto channel = static_cast<int64_t>(i) / plane % sizes.in_channels;
    y[i] = static_cast<T>(bias == nullptr ? sums[i] : sums[i] + static_cast<double>(bias[channel]));
  }
}

Result<void> kernel_conv_transpose(const KernelContext& context) {
  const Sizes& w = input_shape(context, 1);
  ASSAY_ASSIGN(const TransposeAttributes t, transpose_attributes(context.attributes, w.size() - 2,
                                                                 Sizes(w.begin() + 2, w.end())));
  ASSAY_ASSIGN(const ConvSizes sizes,
               forward_sizes(t, input_shape(context, 0), output_shape(context, 0),
                             context.attributes.integer("group")));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    transposed<T>(context, sizes, context.has(2) ? input_data<T>(context, 2) : nullptr);
  });
}

// Inputs dy [N, M, ...], w [M, C / group, ...], spatial sizes of x (i64).
Result<Types> infer_input_gradient(const InferContext& context) {
  ASSAY_TRY(expect_floating_operands(context));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  const DType dtype = context.type(0).dtype;
  if (!context.type(0).shape || !context.type(1).shape) return Types{TensorType::unranked(dtype)};
  const Shape& dy = *context.type(0).shape;
  const Shape& w = *context.type(1).shape;
  ASSAY_TRY(expect_rank(context, 1, dy.rank()));
  ASSAY_TRY(expect_vector(context, 2, static_cast<int64_t>(dy.rank() - 2), "sizes"));
  const int64_t group = context.attributes.integer("group");
  ASSAY_TRY(check_transposed_channels(dy, w, group));
  ASSAY_ASSIGN(const Dim channels, transposed_filters(w, group));
  Shape dx{dy[0], channels};
  const auto sizes = constant_integers(context, 2);
  const auto kernel = kernel_of(w);
  for (size_t i = 2; i < dy.rank(); ++i) dx.append(sizes ? Dim((*sizes)[i - 2]) : Dim());
  if (!sizes || !kernel) return Types{TensorType(dtype, dx)};
  ASSAY_ASSIGN(const WindowAttributes window,
               window_attributes(context.attributes, dy.rank() - 2, *kernel));
  for (size_t i = 2; i < dy.rank(); ++i) {
    if ((*sizes)[i - 2] < 0) return invalid("input 2 (sizes) holds a negative number");
    ASSAY_ASSIGN(const Dim out, window_output(window, i - 2, dx[i]));
    if (!may_equal(out, dy[i])) {
      return invalid("a convolution of size " + dx[i].text() + " gives " + out.text() +
                     ", not the gradient's " + dy[i].text());
    }
  }
  return Types{TensorType(dtype, dx)};
}

Cost cost_input_gradient(const CostContext& context) {
  return cost_transposed(context, context.input_elements(0));
}

Result<void> kernel_input_gradient(const KernelContext& context) {
  ASSAY_ASSIGN(const ConvSizes sizes,
               conv_sizes(context.attributes, output_shape(context, 0), input_shape(context, 1)));
  return dispatch_floating(context.inputs[0]->dtype(),
                           [&]<class T>() { transposed<T>(context, sizes, nullptr); });
}

// Inputs x [N, C, ...], dy [N, M, ...]; kernel_shape is required.
Result<Types> infer_weight_gradient(const InferContext& context) {
  ASSAY_TRY(expect_floating_operands(context));
  const DType dtype = context.type(0).dtype;
  if (!context.type(0).shape || !context.type(1).shape) return Types{TensorType::unranked(dtype)};
  const Shape& x = *context.type(0).shape;
  const Shape& dy = *context.type(1).shape;
  ASSAY_TRY(expect_rank(context, 1, x.rank()));
  const int64_t group = context.attributes.integer("group");
  if (group < 1 || (x[1].known() && x[1].size() % group != 0) ||
      (dy[1].known() && dy[1].size() % group != 0)) {
    return invalid("attribute 'group' " + std::to_string(group) + " does not divide the channels");
  }
  ASSAY_ASSIGN(const WindowAttributes window,
               window_attributes(context.attributes, x.rank() - 2, {}));
  Shape dw{dy[1], x[1].known() ? Dim(x[1].size() / group) : group == 1 ? x[1] : Dim()};
  for (size_t i = 2; i < x.rank(); ++i) {
    ASSAY_ASSIGN(const Dim out, window_output(window, i - 2, x[i]));
    if (!may_equal(x[0], dy[0]) || !may_equal(out, dy[i])) {
      return invalid("input 1 has shape " + dy.text() + ", not the convolution's of " + x.text());
    }
    dw.append(window.kernel[i - 2]);
  }
  return Types{TensorType(dtype, dw)};
}

// Every element of dy meets each tap of its filter once, as in the forward pass.
Cost cost_weight_gradient(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double filters = static_cast<double>((*context.outputs[0]->shape)[0].size());
  const double per_filter = filters == 0 ? 0 : context.output_elements(0) / filters;
  cost.macs = context.input_elements(1) * per_filter;
  cost.flops = 2 * cost.macs;
  return cost;
}

Result<void> kernel_weight_gradient(const KernelContext& context) {
  ASSAY_ASSIGN(const ConvSizes s,
               conv_sizes(context.attributes, input_shape(context, 0), output_shape(context, 0)));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    const T* dy = input_data<T>(context, 1);
    std::vector<double> sums(static_cast<size_t>(element_count(output_shape(context, 0))), 0.0);
    visit_planes(s, [&](int64_t n, int64_t m, int64_t plane, int64_t weights) {
      const T* gradient = dy + (n * s.out_channels + m) * s.out_plane();
      visit_positions(s, [&](const std::array<int64_t, 3>& out, int64_t index) {
        const auto value = static_cast<double>(gradient[index]);
        visit_taps(s, out, [&](int64_t at, int64_t tap) {
          sums[static_cast<size_t>(weights + tap)] += value * static_cast<double>(x[plane + at]);
        });
      });
    });
    std::ranges::transform(sums, output_data<T>(context, 0),
                           [](double sum) { return static_cast<T>(sum); });
  });
}

}  // namespace

void add_conv_transpose_ops(OpTable& table) {
  std::vector<AttributeSpec> transpose = conv_specs();
  transpose.push_back({"output_padding", AttributeType::kInts, {}});
  transpose.push_back({"output_shape", AttributeType::kInts, {}});
  table.add({.type = "ConvTranspose",
             .since_version = 11,
             .min_inputs = 2,
             .max_inputs = 3,
             .attributes = transpose,
             .infer = infer_conv_transpose,
             .cost = cost_conv_transpose,
             .kernel = widen16<kernel_conv_transpose>});
  table.add({.domain = "assay",
             .type = "ConvInputGradient",
             .min_inputs = 3,
             .max_inputs = 3,
             .attributes = conv_specs(),
             .infer = infer_input_gradient,
             .cost = cost_input_gradient,
             .kernel = widen16<kernel_input_gradient>,
             .note = "of the input of a Conv with these attributes; inputs: the gradient of its "
                     "output, its weight, and the spatial sizes of its input"});
  table.add({.domain = "assay",
             .type = "ConvWeightGradient",
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes =
                 [] {
                   std::vector<AttributeSpec> specs = window_specs(true);
                   specs.push_back({"group", AttributeType::kInt, int64_t{1}});
                   return specs;
                 }(),
             .infer = infer_weight_gradient,
             .cost = cost_weight_gradient,
             .kernel = widen16<kernel_weight_gradient>,
             .note = "of the weight of a Conv with these attributes; inputs: its input and the "
                     "gradient of its output"});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// DeformConv: a convolution whose taps are moved by offsets, read between pixels, and weighted by a
// mask. Source: ONNX operator DeformConv 22 (19 has the same semantics).
#include <cmath>

#include "graph/ops/convolution.h"
#include "graph/ops/families.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// [N, offset_group * factor * taps, output ...] of input `input`.
Result<void> check_field(const InferContext& context, size_t input, const Shape& y,
                         const std::optional<std::vector<int64_t>>& kernel, int64_t factor) {
  if (!context.has(input) || !context.type(input).shape) return {};
  ASSAY_TRY(expect_rank(context, input, y.rank()));
  const Shape& field = *context.type(input).shape;
  int64_t channels = context.attributes.integer("offset_group");
  bool fits = !__builtin_mul_overflow(channels, factor, &channels);
  for (size_t i = 0; kernel && i < kernel->size(); ++i) {
    fits = fits && !__builtin_mul_overflow(channels, (*kernel)[i], &channels);
  }
  fits = fits && (!kernel || may_equal(field[1], channels)) && may_equal(field[0], y[0]);
  for (size_t i = 2; i < y.rank(); ++i) fits = fits && may_equal(field[i], y[i]);
  if (fits) return {};
  return invalid("input " + std::to_string(input) + " has shape " + field.text() +
                 ", which does not fit an output of " + y.text());
}

Result<Types> infer_deform_conv(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  for (size_t i = 1; i < 5; ++i) ASSAY_TRY(expect_same_dtype(context, 0, i));
  const int64_t offset_group = context.attributes.integer("offset_group");
  if (offset_group < 1) {
    return invalid("attribute 'offset_group' is " + std::to_string(offset_group));
  }
  ASSAY_ASSIGN(Types types, conv_types(context, {.bias = 3}, context.type(0).dtype));
  if (!types[0].shape) return types;
  const Shape& x = *context.type(0).shape;
  if (x[1].known() && x[1].size() % offset_group != 0) {
    return invalid("attribute 'offset_group' " + std::to_string(offset_group) +
                   " does not divide the " + x[1].text() + " channels");
  }
  const auto kernel = kernel_of(*context.type(1).shape);
  ASSAY_TRY(check_field(context, 2, *types[0].shape, kernel, static_cast<int64_t>(x.rank() - 2)));
  ASSAY_TRY(check_field(context, 4, *types[0].shape, kernel, 1));
  return types;
}

// The convolution's multiply-adds; each channel's tap is also read between its 4 neighbours (7
// operations: 4 products, 3 sums) and, with a mask, weighted (1), once however many filters use it.
Cost cost_deform_conv(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs = conv_macs(context, 1);
  const Shape& x = *context.inputs[0]->shape;
  const Shape& w = *context.inputs[1]->shape;
  const Shape& y = *context.outputs[0]->shape;
  double samples = static_cast<double>(y[0].size()) * static_cast<double>(x[1].size());
  for (size_t i = 2; i < x.rank(); ++i) {
    samples *= static_cast<double>(y[i].size()) * static_cast<double>(w[i].size());
  }
  cost.flops = 2 * cost.macs + samples * (context.has(4) ? 8 : 7);
  if (context.has(3)) cost.flops += context.output_elements(0);
  return cost;
}

// x(h, w) of a plane between its pixels; outside there are zeros.
template <class T>
double bilinear(const T* plane, int64_t height, int64_t width, double h, double w) {
  if (!(h > -1 && w > -1 && h < static_cast<double>(height) && w < static_cast<double>(width))) {
    return 0;
  }
  const auto top = static_cast<int64_t>(std::floor(h));
  const auto left = static_cast<int64_t>(std::floor(w));
  const double down = h - static_cast<double>(top);
  const double right = w - static_cast<double>(left);
  const auto at = [&](int64_t i, int64_t j) {
    const bool inside = i >= 0 && j >= 0 && i < height && j < width;
    return inside ? static_cast<double>(plane[i * width + j]) : 0;
  };
  return (1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
         down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
}

template <class T>
struct DeformFields {
  const T* x;
  const T* offset;
  const T* mask;  // may be null
  int64_t offset_group;
};

// The sample of tap `tap` of channel `c` (of batch element n) at output position `index`.
template <class T>
double sample(const ConvSizes& s, const DeformFields<T>& fields, int64_t n, int64_t c, int64_t tap,
              const std::array<int64_t, 3>& out, int64_t index) {
  const WindowAxis& high = s.axes[1];
  const WindowAxis& wide = s.axes[2];
  const int64_t group = c / (s.in_channels / fields.offset_group);
  const int64_t field = (n * fields.offset_group + group) * s.taps() + tap;
  const auto moved = [&](const WindowAxis& axis, int64_t position, int64_t k, int64_t which) {
    return static_cast<double>(position * axis.stride - axis.pad_begin + k * axis.dilation) +
           static_cast<double>(fields.offset[(2 * field + which) * s.out_plane() + index]);
  };
  const double h = moved(high, out[1], tap / wide.kernel, 0);
  const double w = moved(wide, out[2], tap % wide.kernel, 1);
  const double value =
      bilinear(fields.x + (n * s.in_channels + c) * s.in_plane(), high.input, wide.input, h, w);
  if (fields.mask == nullptr) return value;
  return value * static_cast<double>(fields.mask[field * s.out_plane() + index]);
}

template <class T>
void deform_conv(const KernelContext& context, const ConvSizes& s) {
  const DeformFields<T> fields{input_data<T>(context, 0), input_data<T>(context, 2),
                               context.has(4) ? input_data<T>(context, 4) : nullptr,
                               context.attributes.integer("offset_group")};
  const T* weight = input_data<T>(context, 1);
  std::vector<double> sums(static_cast<size_t>(element_count(output_shape(context, 0))), 0.0);
  const int64_t in_per_group = s.in_channels / s.group;
  visit_planes(s, [&](int64_t n, int64_t m, int64_t plane, int64_t weights) {
    const int64_t channel = plane / s.in_plane() - n * s.in_channels;
    ASSAY_ASSERT(channel / in_per_group == m / (s.out_channels / s.group), "a filter's own group");
    visit_positions(s, [&](const std::array<int64_t, 3>& out, int64_t index) {
      double sum = 0;
      for (int64_t tap = 0; tap < s.taps(); ++tap) {
        sum += sample(s, fields, n, channel, tap, out, index) *
               static_cast<double>(weight[weights + tap]);
      }
      sums[static_cast<size_t>((n * s.out_channels + m) * s.out_plane() + index)] += sum;
    });
  });
  const T* bias = context.has(3) ? input_data<T>(context, 3) : nullptr;
  T* y = output_data<T>(context, 0);
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t m = static_cast<int64_t>(i) / s.out_plane() % s.out_channels;
    y[i] = static_cast<T>(bias == nullptr ? sums[i] : sums[i] + static_cast<double>(bias[m]));
  }
}

Result<void> kernel_deform_conv(const KernelContext& context) {
  if (input_shape(context, 0).size() != 4) {
    return Error{ErrorCode::kUnsupported, "no reference kernel but for two spatial axes"};
  }
  ASSAY_ASSIGN(const ConvSizes sizes,
               conv_sizes(context.attributes, input_shape(context, 0), input_shape(context, 1)));
  return dispatch_floating(context.inputs[0]->dtype(),
                           [&]<class T>() { deform_conv<T>(context, sizes); });
}

}  // namespace

void add_deform_conv_ops(OpTable& table) {
  std::vector<AttributeSpec> specs{
      {"dilations", AttributeType::kInts, {}},    {"group", AttributeType::kInt, int64_t{1}},
      {"kernel_shape", AttributeType::kInts, {}}, {"offset_group", AttributeType::kInt, int64_t{1}},
      {"pads", AttributeType::kInts, {}},         {"strides", AttributeType::kInts, {}}};
  table.add({.type = "DeformConv",
             .since_version = 19,
             .min_inputs = 3,
             .max_inputs = 5,
             .attributes = specs,
             .infer = infer_deform_conv,
             .cost = cost_deform_conv,
             .kernel = widen16<kernel_deform_conv>});
}

}  // namespace assay

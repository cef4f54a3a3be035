// SPDX-License-Identifier: Apache-2.0
//
// Conv.
#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"
#include "graph/ops/window.h"

namespace assay {
namespace {

// Spatial sizes of the weight, when all are known.
std::optional<std::vector<int64_t>> kernel_of(const Shape& weight) {
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < weight.rank(); ++i) {
    if (!weight[i].known()) return std::nullopt;
    kernel.push_back(weight[i].size());
  }
  return kernel;
}

Result<void> check_channels(const Shape& x, const Shape& w, int64_t group) {
  if (group < 1) return invalid("attribute 'group' is " + std::to_string(group));
  if (w[0].known() && w[0].size() % group != 0) {
    return invalid("attribute 'group' " + std::to_string(group) + " does not divide the " +
                   w[0].text() + " output channels");
  }
  int64_t channels = 0;
  if (!x[1].known() || !w[1].known()) return {};
  if (__builtin_mul_overflow(w[1].size(), group, &channels) || channels != x[1].size()) {
    return invalid("input " + x.text() + " has " + x[1].text() + " channels where weight " +
                   w.text() + " with group " + std::to_string(group) + " needs another number");
  }
  return {};
}

Result<Types> infer_conv(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  const DType dtype = context.type(0).dtype;
  if (!context.type(0).shape || !context.type(1).shape) return Types{TensorType::unranked(dtype)};
  const Shape& x = *context.type(0).shape;
  const Shape& w = *context.type(1).shape;
  if (x.rank() < 3) return invalid("input 0 has shape " + x.text() + ", not [N, C, spatial ...]");
  ASSAY_TRY(expect_rank(context, 1, x.rank()));
  ASSAY_TRY(check_channels(x, w, context.attributes.integer("group")));
  ASSAY_TRY(expect_vector(context, 2, w[0], "bias"));
  Shape y{x[0], w[0]};
  auto kernel = kernel_of(w);
  if (!kernel && !context.attributes.has("kernel_shape")) {
    for (size_t i = 2; i < x.rank(); ++i) y.append(Dim());
    return Types{TensorType(dtype, y)};
  }
  ASSAY_ASSIGN(
      const WindowAttributes window,
      window_attributes(context.attributes, x.rank() - 2, kernel.value_or(std::vector<int64_t>())));
  for (size_t i = 2; i < x.rank(); ++i) {
    ASSAY_ASSIGN(Dim size, window_output(window, i - 2, x[i]));
    y.append(std::move(size));
  }
  return Types{TensorType(dtype, y)};
}

Cost cost_conv(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Shape& w = *context.inputs[1]->shape;
  double per_output = 1;
  for (size_t i = 1; i < w.rank(); ++i) per_output *= static_cast<double>(w[i].size());
  cost.macs = context.output_elements(0) * per_output;
  cost.flops = 2 * cost.macs + (context.has(2) ? context.output_elements(0) : 0);
  return cost;
}

struct ConvSizes {
  int64_t batch, in_channels, out_channels, group;
  std::vector<WindowAxis> axes;  // three
  int64_t in_plane() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// The sum of one output position over one input channel.
template <class T>
double window_sum(const ConvSizes& s, const T* plane, const T* weight, const int64_t* start) {
  const auto& [d, h, w] = std::tie(s.axes[0], s.axes[1], s.axes[2]);
  double sum = 0;
  for (int64_t kd = 0; kd < d.kernel; ++kd) {
    const int64_t id = start[0] + kd * d.dilation;
    if (id < 0 || id >= d.input) continue;
    for (int64_t kh = 0; kh < h.kernel; ++kh) {
      const int64_t ih = start[1] + kh * h.dilation;
      if (ih < 0 || ih >= h.input) continue;
      const T* row = plane + (id * h.input + ih) * w.input;
      const T* taps = weight + (kd * h.kernel + kh) * w.kernel;
      for (int64_t kw = 0; kw < w.kernel; ++kw) {
        const int64_t iw = start[2] + kw * w.dilation;
        if (iw < 0 || iw >= w.input) continue;
        sum += static_cast<double>(row[iw]) * static_cast<double>(taps[kw]);
      }
    }
  }
  return sum;
}

template <class T>
void conv(const ConvSizes& s, const T* x, const T* w, const T* bias, T* y) {
  const int64_t in_per_group = s.in_channels / s.group;
  const int64_t out_per_group = s.out_channels / s.group;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t m = 0; m < s.out_channels; ++m) {
      const T* planes = x + (n * s.in_channels + m / out_per_group * in_per_group) * s.in_plane();
      const T* weights = w + m * in_per_group * s.taps();
      for (int64_t od = 0; od < s.axes[0].output; ++od) {
        for (int64_t oh = 0; oh < s.axes[1].output; ++oh) {
          for (int64_t ow = 0; ow < s.axes[2].output; ++ow) {
            const int64_t start[3] = {od * s.axes[0].stride - s.axes[0].pad_begin,
                                      oh * s.axes[1].stride - s.axes[1].pad_begin,
                                      ow * s.axes[2].stride - s.axes[2].pad_begin};
            double sum = bias == nullptr ? 0 : static_cast<double>(bias[m]);
            for (int64_t c = 0; c < in_per_group; ++c) {
              sum += window_sum(s, planes + c * s.in_plane(), weights + c * s.taps(), start);
            }
            *y++ = static_cast<T>(sum);
          }
        }
      }
    }
  }
}

Result<void> kernel_conv(const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  const Sizes& w = input_shape(context, 1);
  ConvSizes sizes{x[0], x[1], w[0], context.attributes.integer("group"), {}};
  ASSAY_ASSIGN(sizes.axes, resolve_window(context.attributes, x, Sizes(w.begin() + 2, w.end())));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    conv<T>(sizes, input_data<T>(context, 0), input_data<T>(context, 1),
            context.has(2) ? input_data<T>(context, 2) : nullptr, output_data<T>(context, 0));
  });
}

}  // namespace

void add_convolution_ops(OpTable& table) {
  std::vector<AttributeSpec> specs = window_specs(false);
  specs.push_back({"group", AttributeType::kInt, int64_t{1}});
  table.add({.type = "Conv",
             .since_version = 11,
             .min_inputs = 2,
             .max_inputs = 3,
             .attributes = specs,
             .infer = infer_conv,
             .cost = cost_conv,
             .kernel = widen16<kernel_conv>});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// MaxPool, AveragePool, GlobalAveragePool.
#include <algorithm>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"
#include "graph/ops/window.h"

namespace assay {
namespace {

Result<Types> infer_pool(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
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

double window_size(const CostContext& context) {
  double size = 1;
  for (const int64_t k : context.attributes.integers("kernel_shape")) {
    size *= static_cast<double>(k);
  }
  return size;
}

Cost cost_max_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.output_elements(0) * (window_size(context) - 1);
  return cost;
}

Cost cost_average_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.output_elements(0) * window_size(context);
  return cost;
}

// Calls f(offset) for every element of the input plane that the window at `out` covers; returns
// the number of elements of the padded input that it covers.
template <class F>
int64_t visit_window(const std::vector<WindowAxis>& axes, const int64_t* out, F&& f) {
  int64_t begin[3];
  int64_t padded = 1;
  for (size_t i = 0; i < 3; ++i) {
    const WindowAxis& a = axes[i];
    begin[i] = out[i] * a.stride - a.pad_begin;
    int64_t inside = 0;  // ceil_mode windows may reach past the padding
    for (int64_t k = 0; k < a.kernel; ++k) {
      if (begin[i] + k * a.dilation < a.input + a.pad_end) ++inside;
    }
    padded *= inside;
  }
  for (int64_t kd = 0; kd < axes[0].kernel; ++kd) {
    const int64_t d = begin[0] + kd * axes[0].dilation;
    if (d < 0 || d >= axes[0].input) continue;
    for (int64_t kh = 0; kh < axes[1].kernel; ++kh) {
      const int64_t h = begin[1] + kh * axes[1].dilation;
      if (h < 0 || h >= axes[1].input) continue;
      for (int64_t kw = 0; kw < axes[2].kernel; ++kw) {
        const int64_t w = begin[2] + kw * axes[2].dilation;
        if (w < 0 || w >= axes[2].input) continue;
        f((d * axes[1].input + h) * axes[2].input + w);
      }
    }
  }
  return padded;
}

// Calls f(plane of the input, output position) for every output element, in order.
template <class F>
void visit_outputs(const Sizes& input, const std::vector<WindowAxis>& axes, F&& f) {
  for (int64_t plane = 0; plane < input[0] * input[1]; ++plane) {
    for (int64_t d = 0; d < axes[0].output; ++d) {
      for (int64_t h = 0; h < axes[1].output; ++h) {
        for (int64_t w = 0; w < axes[2].output; ++w) {
          const int64_t out[3] = {d, h, w};
          f(plane, out);
        }
      }
    }
  }
}

int64_t plane_elements(const std::vector<WindowAxis>& axes) {
  return axes[0].input * axes[1].input * axes[2].input;
}

Result<void> kernel_max_pool(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const std::vector<WindowAxis> axes, resolve_window(context.attributes, shape, {}));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    visit_outputs(shape, axes, [&](int64_t plane, const int64_t* out) {
      const T* from = x + plane * plane_elements(axes);
      T best = -std::numeric_limits<T>::infinity();
      visit_window(axes, out, [&](int64_t at) {
        if (from[at] > best || from[at] != from[at]) best = from[at];
      });
      *y++ = best;
    });
  });
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

Result<Types> infer_global_pool(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const TensorType& type = context.type(0);
  if (!type.shape) return Types{TensorType::unranked(type.dtype)};
  const Shape& x = *type.shape;
  if (x.rank() < 3) return invalid("input 0 has shape " + x.text() + ", not [N, C, spatial ...]");
  Shape y{x[0], x[1]};
  for (size_t i = 2; i < x.rank(); ++i) y.append(1);
  return Types{TensorType(type.dtype, y)};
}

Cost cost_global_average_pool(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = context.input_elements(0);
  return cost;
}

Result<void> kernel_global_average_pool(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  const int64_t planes = shape[0] * shape[1];
  const int64_t size = element_count(Sizes(shape.begin() + 2, shape.end()));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    for (int64_t plane = 0; plane < planes; ++plane) {
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(*x++);
      *y++ = static_cast<T>(sum / static_cast<double>(size));
    }
  });
}

}  // namespace

void add_pooling_ops(OpTable& table) {
  std::vector<AttributeSpec> specs = window_specs(true);
  specs.push_back({"ceil_mode", AttributeType::kInt, int64_t{0}});
  std::vector<AttributeSpec> average = specs;
  average.push_back({"count_include_pad", AttributeType::kInt, int64_t{0}});
  specs.push_back({"storage_order", AttributeType::kInt, int64_t{0}});
  table.add({.type = "MaxPool",
             .since_version = 12,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = specs,
             .infer = infer_pool,
             .cost = cost_max_pool,
             .kernel = widen16<kernel_max_pool>,
             .note = "the output Indices is not given"});
  table.add({.type = "AveragePool",
             .since_version = 19,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = average,
             .infer = infer_pool,
             .cost = cost_average_pool,
             .kernel = widen16<kernel_average_pool>});
  table.add({.type = "GlobalAveragePool",
             .since_version = 1,
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_global_pool,
             .cost = cost_global_average_pool,
             .kernel = widen16<kernel_global_average_pool>});
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// assay.BatchNormGradient, assay.LayerNormGradient. With xhat = (x - mean) inverse and m elements
// under one mean:  dx = inverse (g - mean of g - xhat mean of (g xhat)),  g = dy scale
// (Ioffe and Szegedy 2015, "Batch normalization", section 3). Inputs: dy, x, mean, inverse standard
// deviation, scale; outputs: the gradients of x, scale and bias.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<void> check_operands(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 1));
  ASSAY_TRY(expect_same_dtype(context, 1, 0));
  for (size_t i = 2; i < 5; ++i) ASSAY_TRY(expect_floating(context, i));
  return expect_same_shape(context, 0, 1);
}

Result<Types> infer_batch_norm_gradient(const InferContext& context) {
  ASSAY_TRY(check_operands(context));
  const TensorType& x = context.type(1);
  Dim channels;
  if (x.shape) {
    if (x.shape->rank() < 2) {
      return invalid("input 1 has shape " + x.shape->text() + ", not [N, C, ...]");
    }
    channels = (*x.shape)[1];
  }
  constexpr std::string_view kNames[] = {"", "", "mean", "inverse deviation", "scale"};
  for (size_t i = 2; i < 5; ++i) ASSAY_TRY(expect_vector(context, i, channels, kNames[i]));
  return Types{x, context.type(4), context.type(4)};
}

// One mean for every row: the axes from `axis` on are 1.
Result<Types> infer_layer_norm_gradient(const InferContext& context) {
  ASSAY_TRY(check_operands(context));
  ASSAY_TRY(expect_same_shape(context, 2, 3));
  const TensorType& x = context.type(1);
  if (!x.shape) return Types{x, context.type(4), context.type(4)};
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  Shape rows = *x.shape;
  for (size_t i = axis; i < rows.rank(); ++i) rows[i] = 1;
  const auto& mean = context.type(2).shape;
  if (mean && !std::ranges::equal(mean->dims(), rows.dims(), may_equal)) {
    return invalid("input 2 (mean) has shape " + mean->text() + " where " + rows.text() +
                   " is needed");
  }
  const auto& dims = x.shape->dims();
  const Shape tail(std::vector<Dim>(dims.begin() + static_cast<ptrdiff_t>(axis), dims.end()));
  if (const auto& scale = context.type(4).shape) {
    const auto combined = broadcast(tail, *scale);
    if (!combined.ok() || scale->rank() > tail.rank() || (tail.known() && *combined != tail)) {
      return invalid("input 4 (scale) has shape " + scale->text() +
                     ", which does not broadcast to " + tail.text());
    }
  }
  return Types{x, context.type(4), context.type(4)};
}

// Two sums (3 operations), the differences and products of dx (6); as forward, what is done once a
// channel or row is not counted.
Cost cost_norm_gradient(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 9 * context.input_elements(1);
  return cost;
}

struct Sums {
  double dy = 0;       // of dy scale
  double dy_xhat = 0;  // of dy scale xhat
};

double at(const Tensor& tensor, int64_t index) {
  return tensor.dtype() == DType::kF64
             ? tensor.values<double>()[static_cast<size_t>(index)]
             : static_cast<double>(tensor.values<float>()[static_cast<size_t>(index)]);
}

void put(Tensor& tensor, int64_t index, double value) {
  if (tensor.dtype() == DType::kF64) {
    tensor.values<double>()[static_cast<size_t>(index)] = value;
  } else {
    tensor.values<float>()[static_cast<size_t>(index)] = static_cast<float>(value);
  }
}

bool wants(const KernelContext& context, size_t output) {
  return output < context.outputs.size() && !context.outputs[output].empty();
}

template <class T>
void batch_norm_gradient(const KernelContext& context, const AxisView& view) {
  const T* dy = input_data<T>(context, 0);
  const T* x = input_data<T>(context, 1);
  T* dx = output_data<T>(context, 0);
  const auto count = static_cast<double>(view.outer * view.inner);
  for (int64_t c = 0; c < view.size; ++c) {
    const double mean = at(*context.inputs[2], c);
    const double inverse = at(*context.inputs[3], c);
    const double scale = at(*context.inputs[4], c);
    const auto visit = [&](auto&& f) {
      for (int64_t n = 0; n < view.outer; ++n) {
        const int64_t start = (n * view.size + c) * view.inner;
        for (int64_t i = start; i < start + view.inner; ++i) {
          f(i, static_cast<double>(dy[i]), (static_cast<double>(x[i]) - mean) * inverse);
        }
      }
    };
    Sums sums;
    visit([&](int64_t /*i*/, double d, double xhat) {
      sums.dy += d;
      sums.dy_xhat += d * xhat;
    });
    visit([&](int64_t i, double d, double xhat) {
      dx[i] = static_cast<T>(inverse * scale * (d - sums.dy / count - xhat * sums.dy_xhat / count));
    });
    if (wants(context, 1)) put(context.outputs[1], c, sums.dy_xhat);
    if (wants(context, 2)) put(context.outputs[2], c, sums.dy);
  }
}

Result<void> kernel_batch_norm_gradient(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 1), 1);
  return dispatch_floating(context.inputs[1]->dtype(),
                           [&]<class T>() { batch_norm_gradient<T>(context, view); });
}

template <class T>
void layer_norm_gradient(const KernelContext& context, int64_t rows, int64_t size,
                         const Sizes& tail) {
  const Sizes strides = broadcast_strides(input_shape(context, 4), tail);
  std::vector<double> dscale(static_cast<size_t>(context.inputs[4]->elements()), 0.0);
  std::vector<double> dbias = dscale;
  for (int64_t row = 0; row < rows; ++row) {
    const T* dy = input_data<T>(context, 0) + row * size;
    const T* x = input_data<T>(context, 1) + row * size;
    T* dx = output_data<T>(context, 0) + row * size;
    const double mean = at(*context.inputs[2], row);
    const double inverse = at(*context.inputs[3], row);
    Sums sums;
    const auto visit = [&](auto&& f) {
      walk<1>(tail, {strides}, [&](int64_t i, const std::array<int64_t, 1>& scale_at) {
        f(i, static_cast<size_t>(scale_at[0]), static_cast<double>(dy[i]),
          (static_cast<double>(x[i]) - mean) * inverse);
      });
    };
    visit([&](int64_t /*i*/, size_t s, double d, double xhat) {
      const double g = d * at(*context.inputs[4], static_cast<int64_t>(s));
      sums.dy += g;
      sums.dy_xhat += g * xhat;
      dscale[s] += d * xhat;
      dbias[s] += d;
    });
    const auto count = static_cast<double>(size);
    visit([&](int64_t i, size_t s, double d, double xhat) {
      const double g = d * at(*context.inputs[4], static_cast<int64_t>(s));
      dx[i] = static_cast<T>(inverse * (g - sums.dy / count - xhat * sums.dy_xhat / count));
    });
  }
  for (size_t i = 0; i < dscale.size(); ++i) {
    if (wants(context, 1)) put(context.outputs[1], static_cast<int64_t>(i), dscale[i]);
    if (wants(context, 2)) put(context.outputs[2], static_cast<int64_t>(i), dbias[i]);
  }
}

Result<void> kernel_layer_norm_gradient(const KernelContext& context) {
  const Sizes& x = input_shape(context, 1);
  ASSAY_ASSIGN(const size_t axis, normalized_axis(context.attributes.integer("axis"), x.size()));
  const Sizes tail(x.begin() + static_cast<ptrdiff_t>(axis), x.end());
  const int64_t rows = element_count(Sizes(x.begin(), x.begin() + static_cast<ptrdiff_t>(axis)));
  return dispatch_floating(context.inputs[1]->dtype(), [&]<class T>() {
    layer_norm_gradient<T>(context, rows, element_count(tail), tail);
  });
}

}  // namespace

void add_backward_norm_ops(OpTable& table) {
  const auto add = [&](const char* type, std::vector<AttributeSpec> attributes, InferFunction infer,
                       KernelFunction kernel) {
    table.add({.domain = "assay",
               .type = type,
               .min_inputs = 5,
               .max_inputs = 5,
               .max_outputs = 3,
               .attributes = std::move(attributes),
               .infer = infer,
               .cost = cost_norm_gradient,
               .kernel = kernel});
  };
  add("BatchNormGradient", {}, infer_batch_norm_gradient, widen16<kernel_batch_norm_gradient>);
  add("LayerNormGradient", {{"axis", AttributeType::kInt, int64_t{-1}}}, infer_layer_norm_gradient,
      widen16<kernel_layer_norm_gradient>);
}

}  // namespace assay

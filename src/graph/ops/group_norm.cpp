// SPDX-License-Identifier: Apache-2.0
//
// InstanceNormalization, GroupNormalization, RMSNormalization, LpNormalization,
// MeanVarianceNormalization, LRN.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// x [N, C, ...] and two vectors of one number a channel.
Result<Types> infer_channel_norm(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  const TensorType& x = context.type(0);
  Dim channels;
  if (x.shape) {
    if (x.shape->rank() < 3) {
      return invalid("input 0 has shape " + x.shape->text() + ", not [N, C, spatial ...]");
    }
    channels = (*x.shape)[1];
  }
  ASSAY_TRY(expect_vector(context, 1, channels, "scale"));
  ASSAY_TRY(expect_vector(context, 2, channels, "bias"));
  return Types{x};
}

Result<Types> infer_group_norm(const InferContext& context) {
  ASSAY_TRY(expect_positive(context, "num_groups"));
  const int64_t groups = context.attributes.integer("num_groups");
  ASSAY_ASSIGN(Types types, infer_channel_norm(context));
  if (types[0].shape && (*types[0].shape)[1].known() && (*types[0].shape)[1].size() % groups != 0) {
    return invalid("attribute 'num_groups' " + std::to_string(groups) + " does not divide the " +
                   (*types[0].shape)[1].text() + " channels");
  }
  return types;
}

// The first two dimensions of x, of which `channels` are normalised together.
double rows(const CostContext& context, double groups_for_each_image) {
  return static_cast<double>((*context.inputs[0]->shape)[0].size()) * groups_for_each_image;
}

// As LayerNormalization: mean 1, difference 1, squares 2, division 1, scale 1, bias 1.
Cost channel_norm_cost(const CostContext& context, double groups_for_each_image) {
  Cost cost = context.operand_bytes();
  cost.flops = 7 * context.input_elements(0);
  cost.transcendentals = rows(context, groups_for_each_image);
  return cost;
}

Cost cost_instance_norm(const CostContext& context) {
  return channel_norm_cost(context, context.input_elements(1));
}

Cost cost_group_norm(const CostContext& context) {
  return channel_norm_cost(context, static_cast<double>(context.attributes.integer("num_groups")));
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class T>
Moments moments(const T* x, int64_t count) {
  Moments m;
  for (int64_t i = 0; i < count; ++i) m.mean += static_cast<double>(x[i]);
  m.mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(x[i]) - m.mean;
    m.variance += difference * difference;
  }
  m.variance /= static_cast<double>(count);
  return m;
}

// Each image's channels in `groups` equal parts, each normalised over itself.
Result<void> normalize_groups(const KernelContext& context, int64_t groups) {
  const Sizes& shape = input_shape(context, 0);
  const auto epsilon = static_cast<double>(context.attributes.number("epsilon"));
  const int64_t plane = element_count(Sizes(shape.begin() + 2, shape.end()));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* scale = input_data<T>(context, 1);
    const T* bias = input_data<T>(context, 2);
    const int64_t size = groups == 0 ? 0 : shape[1] / groups * plane;
    for (int64_t group = 0; group < shape[0] * groups; ++group) {
      const T* x = input_data<T>(context, 0) + group * size;
      T* y = output_data<T>(context, 0) + group * size;
      const Moments m = moments(x, size);
      const double inverse = 1 / std::sqrt(m.variance + epsilon);
      for (int64_t i = 0; i < size; ++i) {
        const int64_t channel = (group * size + i) / plane % shape[1];
        const double value = (static_cast<double>(x[i]) - m.mean) * inverse;
        y[i] = static_cast<T>(value * static_cast<double>(scale[channel]) +
                              static_cast<double>(bias[channel]));
      }
    }
  });
}

Result<void> kernel_instance_norm(const KernelContext& context) {
  return normalize_groups(context, input_shape(context, 0)[1]);
}

Result<void> kernel_group_norm(const KernelContext& context) {
  return normalize_groups(context, context.attributes.integer("num_groups"));
}

Result<Types> infer_rms_norm(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  const auto& dims = x.shape->dims();
  const Shape tail(std::vector<Dim>(dims.begin() + static_cast<ptrdiff_t>(axis), dims.end()));
  if (!context.type(1).shape) return Types{x};
  const Shape& scale = *context.type(1).shape;
  auto combined = broadcast(tail, scale);
  if (!combined.ok() || scale.rank() > tail.rank() || (tail.known() && *combined != tail)) {
    return invalid("input 1 has shape " + scale.text() + ", which does not broadcast to " +
                   tail.text());
  }
  return Types{x};
}

double rows_before(const CostContext& context, int64_t axis) {
  const Shape& x = *context.inputs[0]->shape;
  double count = 1;
  for (size_t i = 0; i < *normalized_axis(axis, x.rank()); ++i) {
    count *= static_cast<double>(x[i].size());
  }
  return count;
}

// Squares 2, division by the root 1, scale 1.
Cost cost_rms_norm(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 4 * context.input_elements(0);
  cost.transcendentals = rows_before(context, context.attributes.integer("axis"));
  return cost;
}

Result<void> kernel_rms_norm(const KernelContext& context) {
  const Sizes& x_shape = input_shape(context, 0);
  ASSAY_ASSIGN(const size_t axis,
               normalized_axis(context.attributes.integer("axis"), x_shape.size()));
  const Sizes tail(x_shape.begin() + static_cast<ptrdiff_t>(axis), x_shape.end());
  const int64_t size = element_count(tail);
  const int64_t count = size == 0 ? 0 : element_count(x_shape) / size;
  const std::array<Sizes, 1> strides{broadcast_strides(input_shape(context, 1), tail)};
  const auto epsilon = static_cast<double>(context.attributes.number("epsilon"));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* scale = input_data<T>(context, 1);
    for (int64_t row = 0; row < count; ++row) {
      const T* x = input_data<T>(context, 0) + row * size;
      T* y = output_data<T>(context, 0) + row * size;
      double squares = 0;
      for (int64_t i = 0; i < size; ++i) {
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      }
      const double inverse = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
      walk<1>(tail, strides, [&](int64_t i, const std::array<int64_t, 1>& at) {
        y[i] =
            static_cast<T>(static_cast<double>(x[i]) * inverse * static_cast<double>(scale[at[0]]));
      });
    }
  });
}

Result<Types> infer_lp_norm(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const int64_t p = context.attributes.integer("p");
  if (p != 1 && p != 2) return invalid("attribute 'p' is " + std::to_string(p) + ", not 1 or 2");
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  ASSAY_TRY(normalized_axis(context.attributes.integer("axis"), x.shape->rank()));
  return Types{x};
}

// Magnitude or square and sum 2, division by the norm 1.
Cost cost_lp_norm(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 3 * context.input_elements(0);
  const Shape& x = *context.inputs[0]->shape;
  const size_t axis = *normalized_axis(context.attributes.integer("axis"), x.rank());
  if (x[axis].size() > 0) {
    cost.transcendentals = context.input_elements(0) / static_cast<double>(x[axis].size());
  }
  return cost;
}

Result<void> kernel_lp_norm(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  const bool squares = context.attributes.integer("p") == 2;
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    for (int64_t row = 0; row < view.outer * view.inner; ++row) {
      const int64_t start = row / view.inner * view.size * view.inner + row % view.inner;
      const T* x = input_data<T>(context, 0) + start;
      T* y = output_data<T>(context, 0) + start;
      double norm = 0;
      for (int64_t i = 0; i < view.size; ++i) {
        const double value = std::abs(static_cast<double>(x[i * view.inner]));
        norm += squares ? value * value : value;
      }
      if (squares) norm = std::sqrt(norm);
      for (int64_t i = 0; i < view.size; ++i) {  // a vector of zeros stays one
        const auto value = static_cast<double>(x[i * view.inner]);
        y[i * view.inner] = static_cast<T>(norm == 0 ? 0 : value / norm);
      }
    }
  });
}

Result<Types> infer_mean_variance_norm(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const TensorType& x = context.type(0);
  if (!x.shape) return Types{x};
  ASSAY_TRY(normalized_axes(context.attributes.integers("axes"), x.shape->rank()));
  return Types{x};
}

// Mean 1, difference 1, squares 2, division 1; a root for each set of means.
Cost cost_mean_variance_norm(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 5 * context.input_elements(0);
  const Shape& x = *context.inputs[0]->shape;
  cost.transcendentals = context.input_elements(0);
  const auto axes = normalized_axes(context.attributes.integers("axes"), x.rank());
  for (const size_t axis : *axes) {
    cost.transcendentals /= std::max(1.0, static_cast<double>(x[axis].size()));
  }
  return cost;
}

Result<void> kernel_mean_variance_norm(const KernelContext& context) {
  const Sizes& shape = input_shape(context, 0);
  ASSAY_ASSIGN(const auto axes, normalized_axes(context.attributes.integers("axes"), shape.size()));
  Sizes kept = shape;  // the shape of the statistics
  for (const size_t axis : axes) kept[axis] = 1;
  const std::array<Sizes, 1> strides{broadcast_strides(kept, shape)};
  const auto groups = static_cast<size_t>(element_count(kept));
  const double count = static_cast<double>(element_count(shape)) / static_cast<double>(groups);
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    std::vector<double> means(groups, 0.0);
    std::vector<double> variances(groups, 0.0);
    const auto visit = [&](auto&& f) {
      walk<1>(shape, strides, [&](int64_t i, const std::array<int64_t, 1>& at) {
        f(i, static_cast<size_t>(at[0]), static_cast<double>(x[i]));
      });
    };
    visit([&](int64_t, size_t g, double value) { means[g] += value / count; });
    visit([&](int64_t, size_t g, double value) {
      variances[g] += (value - means[g]) * (value - means[g]) / count;
    });
    constexpr double kEpsilon = 1e-9;  // added to the deviation, not to the variance
    visit([&](int64_t i, size_t g, double value) {
      output_data<T>(context, 0)[i] =
          static_cast<T>((value - means[g]) / (std::sqrt(variances[g]) + kEpsilon));
    });
  });
}

Result<Types> infer_lrn(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_positive(context, "size"));
  const TensorType& x = context.type(0);
  if (x.shape && x.shape->rank() < 3) {
    return invalid("input 0 has shape " + x.shape->text() + ", not [N, C, spatial ...]");
  }
  return Types{x};
}

// Square 1, sum of `size` squares, alpha and bias 2, the last product 1; one power.
Cost cost_lrn(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const auto size = static_cast<double>(context.attributes.integer("size"));
  cost.flops = context.input_elements(0) * (size + 3);
  cost.transcendentals = context.input_elements(0);
  return cost;
}

Result<void> kernel_lrn(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), 1);
  const Attributes& attributes = context.attributes;
  const int64_t size = attributes.integer("size");
  const double alpha = static_cast<double>(attributes.number("alpha")) / static_cast<double>(size);
  const auto beta = static_cast<double>(attributes.number("beta"));
  const auto bias = static_cast<double>(attributes.number("bias"));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    for (int64_t i = 0; i < view.outer * view.size * view.inner; ++i) {
      const int64_t channel = i / view.inner % view.size;
      const int64_t first = std::max<int64_t>(channel - (size - 1) / 2, 0);
      const int64_t last = std::min(channel + size / 2, view.size - 1);
      double squares = 0;
      for (int64_t c = first; c <= last; ++c) {
        const auto value = static_cast<double>(x[i + (c - channel) * view.inner]);
        squares += value * value;
      }
      output_data<T>(context, 0)[i] =
          static_cast<T>(static_cast<double>(x[i]) / std::pow(bias + alpha * squares, beta));
    }
  });
}

OpEntry entry(std::string type, int version, size_t inputs, std::vector<AttributeSpec> attributes,
              InferFunction infer, CostFunction cost, KernelFunction kernel) {
  return {.type = std::move(type),
          .since_version = version,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .attributes = std::move(attributes),
          .infer = infer,
          .cost = cost,
          .kernel = kernel};
}

}  // namespace

void add_group_norm_ops(OpTable& table) {
  const AttributeSpec epsilon{"epsilon", AttributeType::kFloat, 1e-5f};
  const AttributeSpec axis{"axis", AttributeType::kInt, int64_t{-1}};
  const AttributeSpec stash{"stash_type", AttributeType::kInt, int64_t{1}};
  table.add(entry("InstanceNormalization", 6, 3, {epsilon}, infer_channel_norm, cost_instance_norm,
                  widen16<kernel_instance_norm>));
  table.add(entry("GroupNormalization", 21, 3,
                  {epsilon, {"num_groups", AttributeType::kInt, {}, true}, stash}, infer_group_norm,
                  cost_group_norm, widen16<kernel_group_norm>));
  table.add(entry("RMSNormalization", 23, 2, {axis, epsilon, stash}, infer_rms_norm, cost_rms_norm,
                  widen16<kernel_rms_norm>));
  table.add(entry("LpNormalization", 1, 1, {axis, {"p", AttributeType::kInt, int64_t{2}}},
                  infer_lp_norm, cost_lp_norm, widen16<kernel_lp_norm>));
  table.add(entry("MeanVarianceNormalization", 13, 1,
                  {{"axes", AttributeType::kInts, std::vector<int64_t>{0, 2, 3}}},
                  infer_mean_variance_norm, cost_mean_variance_norm,
                  widen16<kernel_mean_variance_norm>));
  table.add(entry("LRN", 13, 1,
                  {{"alpha", AttributeType::kFloat, 1e-4f},
                   {"beta", AttributeType::kFloat, 0.75f},
                   {"bias", AttributeType::kFloat, 1.0f},
                   {"size", AttributeType::kInt, {}, true}},
                  infer_lrn, cost_lrn, widen16<kernel_lrn>));
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Softmax, LogSoftmax, SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_softmax(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const TensorType& x = context.type(0);
  if (x.shape) {
    ASSAY_TRY(Result<void>([&]() -> Result<void> {
      auto axis = normalized_axis(context.attributes.integer("axis"), x.shape->rank());
      if (!axis.ok()) return std::move(axis).error();
      return {};
    }()));
  }
  return Types{x};
}

// Rows are what is left when the axis is taken out.
double rows_of(const CostContext& context, int64_t axis) {
  const Shape& x = *context.inputs[0]->shape;
  const auto size = static_cast<double>(x[*normalized_axis(axis, x.rank())].size());
  return size == 0 ? 0 : context.input_elements(0) / size;
}

// Maximum, difference, sum, and the last multiplication or subtraction; one exponential an element
// and one reciprocal or logarithm a row.
Cost cost_rows(const CostContext& context, int64_t axis) {
  Cost cost = context.operand_bytes();
  cost.flops = 4 * context.input_elements(0);
  cost.transcendentals = context.input_elements(0) + rows_of(context, axis);
  return cost;
}

Cost cost_softmax(const CostContext& context) {
  return cost_rows(context, context.attributes.integer("axis"));
}

// y = softmax(x) or its logarithm along the middle axis.
template <class T>
void softmax(const T* x, T* y, const AxisView& view, bool logarithm) {
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    const int64_t start = row / view.inner * view.size * view.inner + row % view.inner;
    const auto at = [&](int64_t i) { return start + i * view.inner; };
    double largest = -INFINITY;
    for (int64_t i = 0; i < view.size; ++i) {
      largest = std::max(largest, static_cast<double>(x[at(i)]));
    }
    double sum = 0;
    for (int64_t i = 0; i < view.size; ++i) {
      sum += std::exp(static_cast<double>(x[at(i)]) - largest);
    }
    const double log_sum = std::log(sum);
    for (int64_t i = 0; i < view.size; ++i) {
      const double shifted = static_cast<double>(x[at(i)]) - largest;
      y[at(i)] = static_cast<T>(logarithm ? shifted - log_sum : std::exp(shifted) / sum);
    }
  }
}

template <bool logarithm>
Result<void> kernel_softmax(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), context.attributes.integer("axis"));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    softmax(input_data<T>(context, 0), output_data<T>(context, 0), view, logarithm);
  });
}

Result<Types> infer_loss(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI32, DType::kI64}));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  const std::string& reduction = context.attributes.string("reduction");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    return invalid("attribute 'reduction' is '" + reduction + "', not mean, sum or none");
  }
  const TensorType& scores = context.type(0);
  const TensorType& labels = context.type(1);
  if (scores.shape && scores.shape->rank() < 2) {
    return invalid("input 0 has shape " + scores.shape->text() + ", not [N, C, ...]");
  }
  if (scores.shape && labels.shape) {
    ASSAY_TRY(expect_labels_fit(*scores.shape, *labels.shape));
  }
  if (scores.shape) ASSAY_TRY(expect_vector(context, 2, (*scores.shape)[1], "weights"));
  TensorType loss(scores.dtype, Shape());
  if (reduction == "none") loss.shape = labels.shape;
  return Types{loss, scores};
}

// log-softmax, then one term a label: negation, and an addition where they are reduced.
Cost cost_loss(const CostContext& context) {
  Cost cost = cost_rows(context, 1);
  cost.flops += 2 * context.input_elements(1);
  return cost;
}

struct LossTerms {
  double sum = 0;
  double weight = 0;
};

// Per-label losses into `terms` (when not null) and their weighted sum; kInvalid for a label out of
// range.
template <class T>
Result<LossTerms> label_losses(const KernelContext& context, const T* log_prob,
                               const AxisView& view, T* terms) {
  ASSAY_ASSIGN(const Sizes labels, as_integers(*context.inputs[1]));
  const Attributes& attributes = context.attributes;
  LossTerms total;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (terms != nullptr) terms[at] = 0;
    if (attributes.has("ignore_index") && labels[i] == attributes.integer("ignore_index")) continue;
    if (labels[i] < 0 || labels[i] >= view.size) {
      return invalid("label " + std::to_string(labels[i]) + " is outside 0 to " +
                     std::to_string(view.size - 1));
    }
    const double weight =
        context.has(2) ? static_cast<double>(input_data<T>(context, 2)[labels[i]]) : 1;
    const int64_t index = (at / view.inner * view.size + labels[i]) * view.inner + at % view.inner;
    const double term = -static_cast<double>(log_prob[index]) * weight;
    if (terms != nullptr) terms[at] = static_cast<T>(term);
    total.sum += term;
    total.weight += weight;
  }
  return total;
}

// The losses of log-probabilities, reduced, into output 0.
template <class T>
Result<void> reduced_loss(const KernelContext& context, const T* log_prob, const AxisView& view) {
  const std::string& reduction = context.attributes.string("reduction");
  T* loss = output_data<T>(context, 0);
  ASSAY_ASSIGN(const LossTerms total,
               label_losses<T>(context, log_prob, view, reduction == "none" ? loss : nullptr));
  if (reduction == "mean") *loss = static_cast<T>(total.sum / total.weight);
  if (reduction == "sum") *loss = static_cast<T>(total.sum);
  return {};
}

Result<void> kernel_loss(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), 1);
  Result<void> status;
  ASSAY_TRY(dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    Tensor log_prob = context.outputs.size() > 1
                          ? context.outputs[1]
                          : Tensor::allocate(context.inputs[0]->dtype(), input_shape(context, 0));
    softmax(input_data<T>(context, 0), log_prob.values<T>().data(), view, true);
    status = reduced_loss<T>(context, log_prob.values<T>().data(), view);
  }));
  return status;
}

// The log-probabilities, when they are no output.
int64_t workspace_loss(const CostContext& context) {
  if (context.outputs.size() > 1 && context.outputs[1] != nullptr) return 0;
  return *context.inputs[0]->bytes();
}

// The same of scores that are log-probabilities already.
Result<void> kernel_likelihood(const KernelContext& context) {
  const AxisView view = view_around(input_shape(context, 0), 1);
  Result<void> status;
  ASSAY_TRY(dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    status = reduced_loss<T>(context, input_data<T>(context, 0), view);
  }));
  return status;
}

Cost cost_likelihood(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 2 * context.input_elements(1);
  return cost;
}

}  // namespace

void add_softmax_ops(OpTable& table) {
  const std::vector<AttributeSpec> axis{{"axis", AttributeType::kInt, int64_t{-1}}};
  const std::vector<AttributeSpec> loss{{"ignore_index", AttributeType::kInt, {}},
                                        {"reduction", AttributeType::kString, "mean"}};
  table.add({.type = "Softmax",
             .since_version = 13,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = axis,
             .infer = infer_softmax,
             .cost = cost_softmax,
             .kernel = widen16<kernel_softmax<false>>});
  table.add({.type = "LogSoftmax",
             .since_version = 13,
             .min_inputs = 1,
             .max_inputs = 1,
             .attributes = axis,
             .infer = infer_softmax,
             .cost = cost_softmax,
             .kernel = widen16<kernel_softmax<true>>});
  table.add({.type = "SoftmaxCrossEntropyLoss",
             .since_version = 13,
             .min_inputs = 2,
             .max_inputs = 3,
             .max_outputs = 2,
             .attributes = loss,
             .infer = infer_loss,
             .cost = cost_loss,
             .kernel = widen16<kernel_loss>,
             .workspace = workspace_loss});
  table.add({.type = "NegativeLogLikelihoodLoss",
             .since_version = 13,
             .min_inputs = 2,
             .max_inputs = 3,
             .attributes = loss,
             .infer = infer_loss,
             .cost = cost_likelihood,
             .kernel = widen16<kernel_likelihood>});
}

}  // namespace assay

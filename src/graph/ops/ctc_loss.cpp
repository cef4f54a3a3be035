// SPDX-License-Identifier: Apache-2.0
//
// assay.CtcLoss: connectionist temporal classification. Source: Graves et al., ICML 2006, the
// forward variables of section 4.1 in logarithms.
#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// Inputs log_probs [T, N, C], labels [N, S], input_lengths [N], label_lengths [N].
Result<Types> infer_ctc(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_rank(context, 0, 3));
  ASSAY_TRY(expect_rank(context, 1, 2));
  for (size_t input = 1; input < 4; ++input) {
    ASSAY_TRY(expect_dtype(context, input, {DType::kI64}));
  }
  ASSAY_TRY(expect_word(context, "reduction", {"none", "mean", "sum"}));
  const TensorType& scores = context.type(0);
  const Dim batch = scores.shape ? (*scores.shape)[1] : Dim();
  ASSAY_TRY(expect_vector(context, 2, batch, "input_lengths"));
  ASSAY_TRY(expect_vector(context, 3, batch, "label_lengths"));
  if (context.type(1).shape && !may_equal((*context.type(1).shape)[0], batch)) {
    return invalid("input 1 (labels) has shape " + context.type(1).shape->text() +
                   " for a batch of " + batch.text());
  }
  const int64_t blank = context.attributes.integer("blank");
  if (blank < 0 ||
      (scores.shape && (*scores.shape)[2].known() && blank >= (*scores.shape)[2].size())) {
    return invalid("attribute 'blank' is " + std::to_string(blank) + ", which is no class");
  }
  const bool each = context.attributes.string("reduction") == "none";
  return Types{TensorType(scores.dtype, each ? Shape{batch} : Shape())};
}

// Three sums of probabilities in logarithms and one product (4 FLOPs, 4 transcendentals) for each
// of the 2 S + 1 places at each step, as if every label had the longest length.
Cost cost_ctc(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Shape& scores = *context.inputs[0]->shape;
  const double steps =
      static_cast<double>(scores[0].size()) * static_cast<double>(scores[1].size());
  const double places = 2 * static_cast<double>((*context.inputs[1]->shape)[1].size()) + 1;
  cost.flops = 4 * steps * places;
  cost.transcendentals = 4 * steps * places;
  return cost;
}

double log_sum(double a, double b) {
  const double high = std::max(a, b);
  if (high == -INFINITY) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// log_prob(step, class) of one sequence.
template <class F>
double sequence_loss(F&& log_prob, const Sizes& labels, int64_t steps, int64_t blank) {
  const size_t places = 2 * labels.size() + 1;  // blank, label, blank ...
  const auto class_of = [&](size_t place) { return place % 2 == 0 ? blank : labels[place / 2]; };
  std::vector<double> alpha(places, -INFINITY);
  alpha[0] = 0;  // before the first step only "nothing yet" is possible
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<double> next(places, -INFINITY);
    for (size_t place = 0; place < places; ++place) {
      double sum = step == 0 && place == 1 ? alpha[0] : alpha[place];
      if (step > 0 && place > 0) sum = log_sum(sum, alpha[place - 1]);
      const bool skips = place % 2 == 1 && place > 1 && class_of(place) != class_of(place - 2);
      if (step > 0 && skips) sum = log_sum(sum, alpha[place - 2]);
      next[place] = sum + log_prob(step, class_of(place));
    }
    alpha = std::move(next);
  }
  return -(places > 1 ? log_sum(alpha[places - 1], alpha[places - 2]) : alpha[0]);
}

// The labels of sequence n; kInvalid for a length or class that does not exist.
Result<Sizes> labels_of(const KernelContext& context, int64_t n) {
  const int64_t most = input_shape(context, 1)[1];
  const int64_t length = input_data<int64_t>(context, 3)[n];
  if (length < 0 || length > most) {
    return invalid("input 3 (label_lengths) holds " + std::to_string(length) + ", outside 0 to " +
                   std::to_string(most));
  }
  const int64_t* first = input_data<int64_t>(context, 1) + n * most;
  Sizes labels(first, first + length);
  const int64_t classes = input_shape(context, 0)[2];
  for (const int64_t label : labels) {
    if (label < 0 || label >= classes) {
      return invalid("label " + std::to_string(label) + " is outside 0 to " +
                     std::to_string(classes - 1));
    }
  }
  return labels;
}

template <class T>
Result<void> ctc(const KernelContext& context) {
  const Sizes& scores = input_shape(context, 0);
  const std::string& reduction = context.attributes.string("reduction");
  const bool zero_infinity = context.attributes.integer("zero_infinity") != 0;
  const T* x = input_data<T>(context, 0);
  T* y = output_data<T>(context, 0);
  double total = 0;
  for (int64_t n = 0; n < scores[1]; ++n) {
    ASSAY_ASSIGN(const Sizes labels, labels_of(context, n));
    const int64_t steps = input_data<int64_t>(context, 2)[n];
    if (steps < 0 || steps > scores[0]) {
      return invalid("input 2 (input_lengths) holds " + std::to_string(steps));
    }
    double loss = sequence_loss(
        [&](int64_t step, int64_t label) {
          return static_cast<double>(x[(step * scores[1] + n) * scores[2] + label]);
        },
        labels, steps, context.attributes.integer("blank"));
    if (zero_infinity && std::isinf(loss)) loss = 0;
    if (reduction == "none") y[n] = static_cast<T>(loss);
    const auto length = static_cast<double>(std::max<size_t>(labels.size(), 1));
    total += reduction == "mean" ? loss / length / static_cast<double>(scores[1]) : loss;
  }
  if (reduction != "none") *y = static_cast<T>(total);
  return {};
}

Result<void> kernel_ctc(const KernelContext& context) {
  Result<void> status;
  ASSAY_TRY(
      dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() { status = ctc<T>(context); }));
  return status;
}

}  // namespace

void add_ctc_ops(OpTable& table) {
  table.add({.domain = "assay",
             .type = "CtcLoss",
             .min_inputs = 4,
             .max_inputs = 4,
             .attributes = {{"blank", AttributeType::kInt, int64_t{0}},
                            {"reduction", AttributeType::kString, "mean"},
                            {"zero_infinity", AttributeType::kInt, int64_t{0}}},
             .infer = infer_ctc,
             .cost = cost_ctc,
             .kernel = widen16<kernel_ctc>,
             .note = "inputs log-probabilities [steps, batch, classes], labels [batch, longest], "
                     "lengths of the inputs and of the labels; the mean is of losses by label"});
}

}  // namespace assay

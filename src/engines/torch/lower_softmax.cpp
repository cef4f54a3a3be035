// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss_nd.h>
#include <ATen/ops/softmax.h>

#include "engines/torch/lowering.h"

namespace assay::torch_engine {
namespace {

void run_softmax(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::softmax(step.in(registers, 0), step.as<int64_t>());
}

void run_log_softmax(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::log_softmax(step.in(registers, 0), step.as<int64_t>());
}

Result<Step> lower_softmax(const Lowering& lowering) {
  return lowering.step_with(run_softmax, "aten::softmax", lowering.attributes().integer("axis"));
}

Result<Step> lower_log_softmax(const Lowering& lowering) {
  return lowering.step_with(run_log_softmax, "aten::log_softmax",
                            lowering.attributes().integer("axis"));
}

struct LossData {
  int64_t reduction = at::Reduction::Mean;
  int64_t ignore_index = -100;  // no label has it
};

Result<LossData> decode_loss(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  LossData data;
  const std::string& reduction = attributes.string("reduction");
  if (reduction == "none") {
    data.reduction = at::Reduction::None;
  } else if (reduction == "sum") {
    data.reduction = at::Reduction::Sum;
  } else if (reduction != "mean") {
    return Lowering::unsupported("reduction " + reduction);
  }
  if (attributes.has("ignore_index")) data.ignore_index = attributes.integer("ignore_index");
  return data;
}

at::Tensor nll(const Step& step, at::Tensor* registers, const at::Tensor& log_probability) {
  const auto& data = step.as<LossData>();
  const at::Tensor& labels = step.in(registers, 1);
  return at::nll_loss_nd(log_probability,
                         labels.scalar_type() == at::kLong ? labels : labels.to(at::kLong),
                         step.optional_in(registers, 2), data.reduction, data.ignore_index);
}

void run_cross_entropy(const Step& step, at::Tensor* registers) {
  const at::Tensor log_probability = at::log_softmax(step.in(registers, 0), 1);
  step.out(registers) = nll(step, registers, log_probability);
  step.set(registers, 1, log_probability);
}

void run_nll(const Step& step, at::Tensor* registers) {
  step.out(registers) = nll(step, registers, step.in(registers, 0));
}

Result<Step> lower_cross_entropy(const Lowering& lowering) {
  ASSAY_ASSIGN(LossData data, decode_loss(lowering));
  return lowering.step_with(run_cross_entropy, "aten::log_softmax, aten::nll_loss", data);
}

Result<Step> lower_nll(const Lowering& lowering) {
  ASSAY_ASSIGN(LossData data, decode_loss(lowering));
  return lowering.step_with(run_nll, "aten::nll_loss", data);
}

}  // namespace

void add_softmax_lowerings(LoweringTable& table) {
  table.add("Softmax", lower_softmax, OutputMemory::kKept);
  table.add("LogSoftmax", lower_log_softmax, OutputMemory::kKept);
  table.add("SoftmaxCrossEntropyLoss", lower_cross_entropy, OutputMemory::kKept);
  table.add("NegativeLogLikelihoodLoss", lower_nll, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine

// SPDX-License-Identifier: Apache-2.0
#include "train/evaluate.h"

#include <utility>

#include "data/prefetch.h"

namespace assay {
namespace {

constexpr int kPrefetchDepth = 3;

double seconds_between(Nanoseconds from, Nanoseconds to) { return Seconds(to - from).count(); }

}  // namespace

void point_at(TensorView& view, Tensor& tensor) {
  if (view.dtype == tensor.dtype() && view.shape == tensor.shape() && view.strides.empty()) {
    view.data = tensor.data();
  } else {
    view = tensor.view();
  }
}

Evaluation::Evaluation(const Task& task, std::unique_ptr<BatchSource> source, const Clock& clock)
    : task_(&task),
      clock_(&clock),
      source_(std::move(source)),
      evaluator_(task.evaluator()),
      input_views_(task.inference_graph().inputs().size()),
      output_views_(task.inference_graph().outputs().size()) {}

Result<Evaluation> Evaluation::make(const Task& task, int64_t batch, const Clock& clock) {
  ASSAY_ASSIGN(std::unique_ptr<BatchSource> source, task.evaluation_batches(batch));
  return Evaluation(
      task, std::make_unique<PrefetchedSource>(std::move(source), kPrefetchDepth, clock), clock);
}

Result<EvaluationResult> Evaluation::run(Program& program, const std::atomic<bool>* cancel) {
  const Nanoseconds start = clock_->now();
  engine_time_ = Nanoseconds{0};
  evaluator_->reset();
  ASSAY_TRY(source_->skip_to(0));
  for (;;) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      return Error{ErrorCode::kCancelled, "evaluation cancelled"};
    }
    ASSAY_ASSIGN(const bool more, source_->next(batch_));
    if (!more) break;
    ASSAY_TRY(run_batch(program));
  }
  EvaluationResult result;
  ASSAY_ASSIGN(result.quality, evaluator_->value());
  result.items = evaluator_->items();
  result.duration_s = seconds_between(start, clock_->now());
  result.engine_s = Seconds(engine_time_).count();
  return result;
}

Result<void> Evaluation::run_batch(Program& program) {
  if (batch_.inputs.size() < input_views_.size()) {
    return Error{ErrorCode::kInvalid, "an evaluation batch has fewer inputs than the network",
                 task_->inference_graph().name()};
  }
  for (size_t i = 0; i < input_views_.size(); ++i) point_at(input_views_[i], batch_.inputs[i]);
  ASSAY_ASSIGN(std::vector<Tensor> * outputs, outputs_for(batch_.items));
  for (size_t i = 0; i < outputs->size(); ++i) point_at(output_views_[i], (*outputs)[i]);
  const Nanoseconds start = clock_->now();
  ASSAY_TRY(program.run(input_views_, output_views_));
  engine_time_ += clock_->now() - start;
  return evaluator_->add(batch_, *outputs);
}

Result<std::vector<Tensor>*> Evaluation::outputs_for(int64_t items) {
  const auto found = outputs_.find(items);
  if (found != outputs_.end()) return &found->second;
  const Graph& graph = task_->inference_graph();
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs()) {
    const Value& value = graph.value(id);
    std::vector<int64_t> sizes;
    if (!value.type.shape) {
      return Error{ErrorCode::kUnsupported, "an output of unknown rank", value.name};
    }
    for (const Dim& dim : value.type.shape->dims()) {
      if (!dim.known() && dim.name() != "batch") {
        return Error{ErrorCode::kUnsupported,
                     "an output of unknown shape " + value.type.shape->text(), value.name};
      }
      sizes.push_back(dim.known() ? dim.size() : items);
    }
    outputs.push_back(Tensor::allocate(value.type.dtype, std::move(sizes)));
  }
  return &outputs_.emplace(items, std::move(outputs)).first->second;
}

Result<EvaluationResult> evaluate(Program& program, const Task& task, int64_t batch,
                                  const Clock& clock, const std::atomic<bool>* cancel) {
  ASSAY_ASSIGN(Evaluation evaluation, Evaluation::make(task, batch, clock));
  return evaluation.run(program, cancel);
}

}  // namespace assay

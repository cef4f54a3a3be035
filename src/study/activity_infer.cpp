// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "measure/sampler.h"
#include "measure/summary.h"
#include "study/activity.h"
#include "study/checkpoints.h"
#include "study/model_subject.h"
#include "study/resources.h"
#include "study/subject.h"
#include "train/evaluate.h"

namespace assay {
namespace {

// What is called again and again: a program, and one batch of real or drawn inputs.
struct Timed {
  std::unique_ptr<Program> program;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  int64_t items = 0;
};

std::vector<TensorView> views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> all;
  for (const Tensor& tensor : tensors) all.push_back(tensor.view());
  return all;
}

Record opening(const Case& wanted, const Plan& plan, const std::string& item,
               const std::string& digest, int64_t batch) {
  Record record;
  record.status = Status::kMeasured;
  record.digest = digest;
  record.facts["item"] = item;
  record.facts["scenario"] = wanted.get("scenario");
  record.add("batch", static_cast<double>(batch));
  record.add("threads", plan.threads);
  return record;
}

// What the engine really computed in, in its own words.
void add_precision(Record& record, const Program& program) {
  const Json compiled = program.as_compiled();
  if (compiled.contains("precision") && compiled["precision"].is_string())
    record.facts["precision_used"] = compiled["precision"].get<std::string>();
  else
    record.missing["precision_used"] = "the engine does not say";
}

void add_throughput(Record& record, int64_t items) {
  const Metric* latency = record.metric("latency_mean_ns");
  if (latency == nullptr || !(latency->value > 0)) {
    record.missing["throughput_per_s"] = "no call was timed";
    return;
  }
  const double scale = 1e9 * static_cast<double>(items);
  const auto why = record.missing.find("latency_mean_ns.interval");
  const Result<Interval> interval =
      latency->interval
          ? Result<Interval>(*latency->interval)
          : Error{ErrorCode::kInvalid, why != record.missing.end() ? why->second : "unknown"};
  add_with_interval(record, "throughput_per_s", scale / latency->value,
                    reciprocal(interval, scale));
}

Result<void> measure(Record& record, Timed& timed, const ActivityContext& context,
                     const Plan& plan) {
  const std::vector<TensorView> inputs = views(timed.inputs);
  const std::vector<TensorView> outputs = views(timed.outputs);
  SamplerOptions options;
  options.stopping = context.request.stopping;
  options.expected_cpus = plan.device.kind == DeviceKind::kCpu ? 1 : 0;
  Program& program = *timed.program;
  const auto call = [&]() -> Result<void> {
    if (context.cancelled.load(std::memory_order_relaxed))
      return Error{ErrorCode::kCancelled, "cancelled"};
    return program.run(inputs, outputs);
  };
  context.progress({.text = "sampling", .fraction = {}, .rate = {}, .item = ""});
  const ContentionProbe probe(context.clock);
  ResourceWatch resources(context.clock, plan.device);
  ASSAY_ASSIGN(const SampleSeries series, sample(call, context.clock, options, &probe));
  resources.finish(record);
  record.add("samples", static_cast<double>(series.values_ns.size()));
  add_series(record, "latency", series);
  add_throughput(record, timed.items);
  add_precision(record, program);
  return {};
}

Result<EngineHandle> supporting_engine(const ActivityContext& context, const Graph& graph,
                                       const Plan& plan) {
  ASSAY_ASSIGN(EngineHandle engine, context.engines.get(context.request.requested.get("engine")));
  ASSAY_TRY(check_supported(*engine, graph, plan));
  return engine;
}

Result<Record> infer_model(const ActivityContext& context, const Plan& plan) {
  const Case& wanted = context.request.requested;
  ASSAY_ASSIGN(const ModelSubject subject, open_model(wanted));
  context.digest(subject.digest);
  const RandomKey key(wanted.unsigned_integer("seed"));
  ASSAY_ASSIGN(const EngineHandle engine, supporting_engine(context, subject.graph, plan));
  Timed timed;
  timed.items = std::max<int64_t>(1, wanted.integer("batch"));
  ASSAY_ASSIGN(timed.inputs, input_buffers(subject.graph, timed.items));
  ASSAY_ASSIGN(timed.outputs, output_buffers(subject.graph, timed.items));
  for (size_t i = 0; i < timed.inputs.size(); ++i)
    fill_random(timed.inputs[i], key.derive("inputs").derive(i));
  ASSAY_ASSIGN(timed.program, engine->compile(subject.graph, plan, {}, key));
  Record record = opening(wanted, plan, subject.item, subject.digest, timed.items);
  record.missing["quality"] = "a bare model has no data to be judged on";
  record.missing["metric"] = record.missing["quality"];
  ASSAY_TRY(measure(record, timed, context, plan));
  return record;
}

// One batch of evaluation data, with as many items as were asked for.
Result<std::vector<Tensor>> real_inputs(const Task& task, int64_t batch) {
  ASSAY_ASSIGN(const std::unique_ptr<BatchSource> source, task.evaluation_batches(batch));
  Batch first;
  ASSAY_ASSIGN(const bool any, source->next(first));
  if (!any || first.items < batch)
    return Error{ErrorCode::kInvalid,
                 fmt::format("the evaluation data have only {} items", any ? first.items : 0),
                 fmt::format("batch {}", batch)};
  const size_t count = task.inference_graph().inputs().size();
  first.inputs.resize(std::min(first.inputs.size(), count));
  return std::move(first.inputs);
}

// Accuracy stands beside speed: measured with the trained weights, at this precision.
Result<void> add_accuracy(Record& record, Program& program, const WorkloadSubject& subject,
                          const FoundWeights& weights, const ActivityContext& context) {
  record.facts["metric"] = subject.chosen.workload.metric;
  if (!weights.found()) {
    record.missing["quality"] = weights.reason;
    return {};
  }
  context.progress({.text = "evaluating", .fraction = {}, .rate = {}, .item = ""});
  ASSAY_ASSIGN(const EvaluationResult result,
               evaluate(program, *subject.task, subject.chosen.variant.recipe.evaluation_batch,
                        context.clock, &context.cancelled));
  record.add("quality", result.quality);
  record.add("quality_items", static_cast<double>(result.items));
  record.facts["checkpoint"] = weights.file.string();
  return {};
}

Result<Record> infer_workload(const ActivityContext& context, const Plan& plan) {
  const Case& wanted = context.request.requested;
  ASSAY_ASSIGN(const WorkloadSubject subject, open_subject(wanted));
  context.digest(subject.digest);
  ASSAY_ASSIGN(const FoundWeights weights, find_weights(context.request, subject.digest, wanted));
  const Graph& graph = subject.task->inference_graph();
  ASSAY_ASSIGN(const EngineHandle engine, supporting_engine(context, graph, plan));
  Timed timed;
  timed.items = wanted.integer("batch") > 0 ? wanted.integer("batch")
                                            : subject.chosen.variant.recipe.evaluation_batch;
  ASSAY_ASSIGN(timed.inputs, real_inputs(*subject.task, timed.items));
  ASSAY_ASSIGN(timed.outputs, output_buffers(graph, timed.items));
  ASSAY_ASSIGN(timed.program, engine->compile(graph, plan, weights.tensors,
                                              RandomKey(wanted.unsigned_integer("seed"))));
  Record record = opening(wanted, plan, subject.chosen.workload.item, subject.digest, timed.items);
  record.facts["workload"] = subject.chosen.workload.name;
  ASSAY_TRY(measure(record, timed, context, plan));
  ASSAY_TRY(add_accuracy(record, *timed.program, subject, weights, context));
  return record;
}

}  // namespace

Result<Record> infer_activity(const ActivityContext& context) {
  const Case& wanted = context.request.requested;
  if (wanted.get("scenario") != "throughput")
    return Error{ErrorCode::kUnsupported,
                 fmt::format("scenario '{}' is not one of this version's, only throughput is",
                             wanted.get("scenario")),
                 "case"};
  ASSAY_ASSIGN(const Plan plan, plan_of(wanted));
  if (!wanted.get("workload").empty()) return infer_workload(context, plan);
  if (!wanted.get("model").empty()) return infer_model(context, plan);
  return Error{ErrorCode::kInvalid, "neither a workload nor a model is named", "case"};
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Rows made from records: infer, train, and the commands that run several of them.
#include "record/schema_tables.h"

namespace assay::schema_tables {
namespace {

using enum FieldType;

Field from_case(std::string name, FieldType type, std::string unit, std::string doc) {
  return from(row(std::move(name), type, std::move(unit), std::move(doc)), FieldSource::kCase);
}

Field case_text(std::string name, std::string doc) {
  return from_case(std::move(name), kText, "", std::move(doc));
}

Field whole(Field field) {
  field.type = kInteger;
  return field;
}

// The ends of a metric's interval, and how it was made.
std::vector<Field> interval(const std::string& metric_name, const std::string& stem,
                            const std::string& suffix) {
  const auto end = [&](const char* side, FieldSource source, const std::string& unit) {
    return hidden(from(row(stem + "_" + side + "_" + suffix, kNumber, unit,
                           std::string(side) + " end of the 95 % interval of " + metric_name),
                       source, metric_name));
  };
  return {end("low", FieldSource::kLow, suffix), end("high", FieldSource::kHigh, suffix),
          hidden(from(text(stem + "_interval_method", "how that interval was made"),
                      FieldSource::kMethod, metric_name))};
}

std::vector<Field> plan_fields() {
  return {case_text("engine", "framework"),
          case_text("device", "of the engine"),
          case_text("precision", "asked for"),
          hidden(fact("precision_used", "read back from the engine")),
          from_case("batch", kInteger, "count", "items a step or call"),
          from_case("threads", kInteger, "count", "threads of the engine"),
          hidden(from_case("replicas", kInteger, "count", "data-parallel processes")),
          hidden(from_case("level", kInteger, "", "optimisation level"))};
}

std::vector<Field> cost_fields() {
  return {whole(metric("peak_rss_bytes", "bytes", "largest resident size of the worker")),
          metric("energy_joules", "joules", "energy of the timed part, all sources"),
          metric("cost_usd", "usd",
                 "price of training to the target, of the steps asked for, or of the timed calls"),
          metric("cost_per_million_usd", "usd", "price of a million items at this throughput"),
          hidden(metric("price_per_hour_usd", "usd", "of this machine, as given by --price"))};
}

std::vector<Field> trace_fields() {
  const auto kept = [](Field field) {
    return hidden(from(std::move(field), FieldSource::kRecord));
  };
  return {from(row("marks", kList, "", "remarks on the measurement: contended, drift ..."),
               FieldSource::kRecord),
          kept(row("record", kInteger, "", "number of the record in its database")),
          kept(text("run", "which invocation measured it")),
          kept(text("environment", "which machine and software")),
          kept(text("code_version", "of Assay")),
          kept(text("started", "time of start, UTC")),
          kept(row("duration_s", kNumber, "s", "of the whole case"))};
}

std::vector<Field> throughput_fields() {
  std::vector<Field> fields = {
      fact("item", "what throughput counts"),
      metric("throughput_per_s", "per_s", "items a second, evaluations excluded")};
  append(fields, interval("throughput_per_s", "throughput", "per_s"));
  return fields;
}

std::vector<Field> training_fields() {
  std::vector<Field> fields = {
      from(row("reached", kBoolean, "", "whether the target was reached"), FieldSource::kFact),
      metric("final_loss", "", "training loss of the last step"),
      metric("time_to_target_s", "s", "from the first batch to the evaluation that met the target"),
      metric("time_s", "s", "of training, evaluation included"),
      metric("epochs", "count", "passes over the training data until the end"),
      fact("metric", "quality metric"),
      metric("quality", "", "at the end"),
      metric("target", "", "of the quality"),
      metric("step_mean_ns", "ns", "mean time of a training step")};
  append(fields, interval("step_mean_ns", "step_mean", "ns"));
  append(fields, {whole(metric("steps", "count", "training steps taken")),
                  metric("wait_share", "share", "of training time, waiting for input"),
                  metric("evaluation_s", "s", "spent in evaluations"),
                  metric("overhead_share", "share",
                         "of training time outside engine, input and evaluation")});
  return fields;
}

std::vector<Field> latency_fields() {
  std::vector<Field> fields = {metric("latency_mean_ns", "ns", "mean time of a call")};
  append(fields, interval("latency_mean_ns", "latency_mean", "ns"));
  for (const char* percentile : {"50", "90", "95", "99", "99_9"}) {
    Field field = metric("latency_p" + std::string(percentile) + "_ns", "ns",
                         "percentile of the time of a call");
    if (std::string_view(percentile) == "95") field = hidden(std::move(field));
    fields.push_back(std::move(field));
  }
  return fields;
}

std::vector<Field> inference_quality_fields() {
  return {metric("quality", "", "on the evaluation set, at this precision"),
          fact("metric", "quality metric"), whole(metric("samples", "count", "timed calls"))};
}

// What a graph computes and needs, counted: cases of activity "profile".
std::vector<Field> counted_fields() {
  const auto bytes_metric = [](const char* name, const char* doc) {
    return hidden(whole(metric(name, "bytes", doc)));
  };
  return {hidden(whole(metric("parameters", "count", "trained numbers"))),
          hidden(metric("macs", "count", "multiply-adds")),
          hidden(metric("flops", "flops", "floating-point operations; a multiply-add is two")),
          bytes_metric("read_bytes", "tensors read, each once a node"),
          bytes_metric("write_bytes", "tensors written"),
          hidden(metric("intensity_flop_per_byte", "flop_per_byte",
                        "flops over bytes read and written")),
          bytes_metric("activation_bytes", "sum of all intermediate tensors"),
          bytes_metric("peak_bytes", "largest sum of what is alive at once"),
          bytes_metric("peak_parameter_bytes", "of that: parameters"),
          bytes_metric("peak_state_bytes", "of that: states"),
          bytes_metric("peak_constant_bytes", "of that: constants"),
          bytes_metric("peak_input_bytes", "of that: inputs"),
          bytes_metric("peak_activation_bytes", "of that: intermediate tensors"),
          bytes_metric("peak_workspace_bytes", "of that: kernels' own"),
          hidden(fact("peak_node", "where the memory is largest")),
          hidden(whole(metric("nodes", "count", "operators")))};
}

RowSchema train() {
  RowSchema schema = {"train", "", "one training run: a workload, a plan and a seed", {}};
  append(schema.fields,
         {case_text("workload", "what was trained"), case_text("variant", "size of the workload"),
          case_text("seed", "key of every random draw, 64 bits, as text")});
  append(schema.fields, plan_fields());
  append(schema.fields, training_fields());
  append(schema.fields, throughput_fields());
  append(schema.fields, cost_fields());
  append(schema.fields, trace_fields());
  return schema;
}

RowSchema infer() {
  RowSchema schema = {"infer", "", "inference of one graph under one plan", {}};
  append(schema.fields,
         {case_text("workload", "what was inferred"), case_text("model", "where no workload is"),
          case_text("file", "where neither is"), case_text("variant", "size"),
          hidden(case_text("scenario", "how it was loaded")),
          hidden(case_text("seed", "key of every random draw, 64 bits, as text"))});
  append(schema.fields, plan_fields());
  append(schema.fields, throughput_fields());
  append(schema.fields, latency_fields());
  append(schema.fields, inference_quality_fields());
  append(schema.fields, cost_fields());
  append(schema.fields, trace_fields());
  return schema;
}

// Any activity: the union of the fields of infer, train and profile, each once.
RowSchema mixed(std::string command, std::string doc, std::vector<Field> leading) {
  RowSchema schema = {std::move(command), "", std::move(doc), std::move(leading)};
  schema.fields.push_back(case_text("activity", "train, infer, profile"));
  for (const RowSchema& source : {infer(), train()}) {
    for (const Field& field : source.fields) {
      if (schema.field(field.name) == nullptr) schema.fields.push_back(field);
    }
  }
  append(schema.fields, counted_fields());
  return schema;
}

}  // namespace

std::vector<RowSchema> measured() {
  return {infer(), train(), mixed("sweep", "one case of a product of options", {}),
          mixed("study", "one case of a study", {fact("part", "of the study")})};
}

}  // namespace assay::schema_tables

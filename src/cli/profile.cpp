// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cases.h"
#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "graph/count.h"
#include "graph/passes/passes.h"
#include "model/model.h"
#include "record/digest.h"
#include "study/model_subject.h"

namespace assay::cli {
namespace {

struct Profiled {
  std::string model;
  std::string variant;
  int64_t batch = 1;
  std::string precision;
  Graph graph;  // bound
};

// Sizes of symbolic dimensions: --batch, and every --bind dim=value.
std::map<std::string, int64_t> bindings(const Invocation& invocation) {
  std::map<std::string, int64_t> sizes;
  sizes["batch"] = invocation.integer("--batch").value_or(1);
  const auto given = invocation.options.find("--bind");
  if (given == invocation.options.end()) return sizes;
  for (const std::string& text : given->second) {
    const size_t equals = text.find('=');
    const Result<int64_t> value =
        equals == std::string::npos ? Result<int64_t>(0) : parse_int(text.substr(equals + 1));
    if (equals == 0 || !value.ok() || *value < 1 || *value > INT32_MAX)
      throw UserError(fmt::format("'{}' is not DIM=SIZE", text), "--bind",
                      "for example --bind sequence=128");
    sizes[text.substr(0, equals)] = *value;
  }
  return sizes;
}

// A workload's name stands for its model.
ModelConfig config_of(const Invocation& invocation, Profiled& profiled) {
  const auto [kind, name] = resolve_target(invocation.positionals[0], profiled.variant).front();
  profiled.model = name;
  if (kind == "model") return value_or_fail(model_config(name, profiled.variant));
  for (const Workload& workload : all_workloads()) {
    if (workload.name != name) continue;
    if (const WorkloadVariant* variant = workload.variant(profiled.variant)) {
      profiled.model = variant->model;
      return variant->model_config;
    }
    std::vector<std::string> names;
    for (const WorkloadVariant& variant : workload.variants) names.push_back(variant.name);
    throw UserError(fmt::format("workload '{}' has no variant '{}'", name, profiled.variant),
                    "--variant", fmt::format("there are: {}", join(names, ", ")));
  }
  return {};
}

Profiled open(const Invocation& invocation) {
  Profiled profiled;
  profiled.variant = invocation.value_or("--variant", "reference");
  profiled.precision = invocation.value_or("--precision", "f32");
  const ModelConfig config = config_of(invocation, profiled);
  const Graph graph = value_or_fail(build_model(profiled.model, config, Phase::kInference));
  const std::map<std::string, int64_t> sizes = bindings(invocation);
  profiled.batch = sizes.at("batch");
  const Graph bound = value_or_fail(bind_dimensions(graph, sizes));
  profiled.graph =
      value_or_fail(apply_precision(bound, value_or_fail(parse_precision(profiled.precision))));
  return profiled;
}

int64_t parameters_of(const Graph& graph, const Node& node) {
  int64_t elements = 0;
  for (const ValueId id : node.inputs)
    if (id != kNoValue && graph.value(id).kind == ValueKind::kParameter)
      elements += graph.value(id).type.shape->elements().value();
  return elements;
}

Json node_row(const Profiled& profiled, const Node& node, double total_flops) {
  const Cost cost = node_cost(profiled.graph, node);
  const TensorType& type = profiled.graph.value(node.outputs.front()).type;
  const double bytes = cost.read_bytes + cost.write_bytes;
  Json row{{"name", node.name},
           {"op_type", node.op->type},
           {"output_shape", type.shape->sizes()},
           {"output_type", dtype_name(type.dtype)},
           {"parameters", parameters_of(profiled.graph, node)},
           {"macs", cost.macs},
           {"flops", cost.flops},
           {"read_bytes", static_cast<int64_t>(cost.read_bytes)},
           {"write_bytes", static_cast<int64_t>(cost.write_bytes)}};
  if (bytes > 0)
    row["intensity_flop_per_byte"] = cost.flops / bytes;
  else
    row["missing"]["intensity_flop_per_byte"] = "it moves nothing";
  if (total_flops > 0)
    row["flops_share"] = cost.flops / total_flops;
  else
    row["missing"]["flops_share"] = "the graph computes nothing";
  return row;
}

// Flops of the nodes whose first output is of a 16-bit type.
double low_precision_flops(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    const DType dtype = graph.value(node.outputs.front()).type.dtype;
    if (dtype == DType::kBF16 || dtype == DType::kF16) flops += node_cost(graph, node).flops;
  }
  return flops;
}

Json total_row(const Profiled& profiled, const GraphCount& total) {
  Json row{{"digest", digest_of(canonical_text(profiled.graph), "", "")},
           {"model", profiled.model},
           {"variant", profiled.variant},
           {"batch", profiled.batch},
           {"precision", profiled.precision},
           {"parameters", total.parameters},
           {"parameter_bytes", total.parameter_bytes},
           {"macs", total.macs},
           {"flops", total.flops},
           {"read_bytes", static_cast<int64_t>(total.read_bytes)},
           {"write_bytes", static_cast<int64_t>(total.write_bytes)},
           {"intensity_flop_per_byte", total.intensity_flop_per_byte()},
           {"activation_bytes", total.activation_bytes},
           {"peak_bytes", total.peak_bytes},
           {"nodes", total.nodes}};
  if (total.flops > 0)
    row["low_precision_flops_share"] = low_precision_flops(profiled.graph) / total.flops;
  else
    row["missing"]["low_precision_flops_share"] = "the graph computes nothing";
  for (const char* field : {"backward_flops", "optimizer_bytes", "saved_bytes", "gradient_bytes"})
    row["missing"][field] = "only inference is counted";
  return row;
}

int run_profile(const Invocation& invocation) {
  if (invocation.has("--train"))
    throw UserError("the counts of training are not part of this version", "--train",
                    "leave it out: inference is counted");
  const Profiled profiled = open(invocation);
  const GraphCount total = value_or_fail(count(profiled.graph));
  Json rows = Json::array();
  if (!invocation.has("--per-node")) {
    rows.push_back(total_row(profiled, total));
    print_rows(invocation, "profile", "", rows);
    return kExitDone;
  }
  for (const Node& node : profiled.graph.nodes())
    rows.push_back(node_row(profiled, node, total.flops));
  print_rows(invocation, "profile", "nodes", rows);
  return kExitDone;
}

Option option(std::string name, OptionKind kind, std::string value_name, std::string doc,
              std::string fallback, std::vector<std::string> choices = {},
              std::optional<NumberRule> number = std::nullopt) {
  return {.name = std::move(name),
          .kind = kind,
          .value_name = std::move(value_name),
          .doc = std::move(doc),
          .default_text = std::move(fallback),
          .choices = std::move(choices),
          .number = number};
}

}  // namespace

Command profile_command() {
  return {
      .name = "profile",
      .summary = "counts what a network computes and moves; runs nothing",
      .description =
          "Multiply-adds of convolutions and matrix products (the field's convention), every "
          "operator's floating-point operations, unfused traffic and memory, of inference.",
      .positionals = {{"NAME", "a model or a workload of 'assay list'"}},
      .options = {option("--variant", OptionKind::kValue, "NAME",
                         "published sizes (reference) or a workload's variant", "reference"),
                  option("--batch", OptionKind::kValue, "N", "items a call", "1", {},
                         rule_of_case_key("batch")),
                  option("--bind", OptionKind::kList, "DIM=SIZE", "size of another dimension", ""),
                  option("--precision", OptionKind::kValue, "NAME", "precision policy", "f32",
                         {"f32", "tf32", "bf16", "f16"}),
                  option("--train", OptionKind::kFlag, "",
                         "counts of training too; refused, as this version has none", ""),
                  option("--per-node", OptionKind::kFlag, "", "one row an operator", ""),
                  format_option()},
      .conflicts = {},
      .examples = {"assay profile resnet50", "assay profile resnet50 --per-node --format csv"},
      .run = run_profile};
}

}  // namespace assay::cli

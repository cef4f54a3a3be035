// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/network.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/profile_memory.h"
#include "cli/rows.h"
#include "graph/count.h"
#include "graph/passes/passes.h"
#include "record/digest.h"

namespace assay::cli {
namespace {

struct Profiled : Network {
  std::string precision;
};

Profiled open(const Invocation& invocation) {
  Profiled profiled{open_network(invocation), invocation.value_or("--precision", "f32")};
  profiled.graph = value_or_fail(
      apply_precision(profiled.graph, value_or_fail(parse_precision(profiled.precision))));
  return profiled;
}

// The dimensions of inputs that nobody has given a size.
std::vector<std::string> open_dimensions(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs()) {
    if (!graph.value(id).type.shape) continue;
    for (const Dim& dim : graph.value(id).type.shape->dims())
      if (!dim.known() && std::ranges::find(names, dim.name()) == names.end())
        names.push_back(dim.name());
  }
  return names;
}

// Unknown operators and nodes of unknown shape, by operator: "Fancy (2 nodes, first 'a')".
std::vector<std::string> uncounted(const Graph& graph) {
  struct Kind {
    int64_t nodes = 0;
    std::string first;
  };
  std::map<std::string, Kind> kinds;
  for (const Node& node : graph.nodes()) {
    if (is_countable(graph, node)) continue;
    std::string name =
        node.op->domain.empty() ? node.op->type : node.op->domain + "." + node.op->type;
    if (graph.unknown_op(node) == nullptr) name += " of unknown shape";
    Kind& kind = kinds[name];
    if (++kind.nodes == 1) kind.first = node.name;
  }
  std::vector<std::string> lines;
  for (const auto& [name, kind] : kinds)
    lines.push_back(fmt::format("{} ({} {}, first '{}')", name, kind.nodes,
                                kind.nodes == 1 ? "node" : "nodes", kind.first));
  return lines;
}

// Counts as far as shapes go; what is left out is said on stderr and in the row.
GraphCount counted(const Profiled& profiled) {
  const std::vector<std::string> dimensions = open_dimensions(profiled.graph);
  if (!dimensions.empty())
    throw UserError(fmt::format("the size of {} is not known", join(dimensions, ", ")),
                    profiled.model, fmt::format("for example --bind {}=1", dimensions[0]));
  const GraphCount total = count_known(profiled.graph);
  if (total.uncounted_nodes > 0)
    warn(fmt::format("not counted: {}", join(uncounted(profiled.graph), "; ")));
  return total;
}

int64_t parameters_of(const Graph& graph, const Node& node) {
  int64_t elements = 0;
  for (const ValueId id : node.inputs)
    if (id != kNoValue && graph.value(id).kind == ValueKind::kParameter)
      elements += graph.value(id).type.shape->elements().value();
  return elements;
}

Json sizes_of(const TensorType& type) {
  if (!type.shape) return nullptr;
  Json sizes = Json::array();
  for (const Dim& dim : type.shape->dims())
    sizes.push_back(dim.known() ? Json(dim.size()) : Json());
  return sizes;
}

Json node_row(const Profiled& profiled, const Node& node, double total_flops) {
  const TensorType& type = profiled.graph.value(node.outputs.front()).type;
  Json row{{"name", node.name},
           {"op_type", node.op->type},
           {"output_shape", sizes_of(type)},
           {"output_type", dtype_name(type.dtype)},
           {"parameters", parameters_of(profiled.graph, node)}};
  if (!type.shape) row["missing"]["output_shape"] = "its rank is not known";
  if (!is_countable(profiled.graph, node)) {
    const char* reason = profiled.graph.unknown_op(node) != nullptr
                             ? "the operator is not known"
                             : "a shape is not known before running";
    for (const char* field :
         {"macs", "flops", "read_bytes", "write_bytes", "intensity_flop_per_byte", "flops_share"})
      row["missing"][field] = reason;
    return row;
  }
  const Cost cost = node_cost(profiled.graph, node);
  const double bytes = cost.read_bytes + cost.write_bytes;
  row["macs"] = cost.macs;
  row["flops"] = cost.flops;
  row["read_bytes"] = static_cast<int64_t>(cost.read_bytes);
  row["write_bytes"] = static_cast<int64_t>(cost.write_bytes);
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
    if (!is_countable(graph, node)) continue;
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
           {"nodes", total.nodes},
           {"uncounted_nodes", total.uncounted_nodes},
           {"uncounted", join(uncounted(profiled.graph), "; ")}};
  if (profiled.variant.empty()) {
    row.erase("variant");
    row["missing"]["variant"] = "a file has none";
  }
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
  const GraphCount total = counted(profiled);
  Json rows = Json::array();
  if (!invocation.has("--per-node")) {
    rows.push_back(total_row(profiled, total));
    add_memory(rows.back(), invocation, profiled.graph,
               [](const Invocation& other) { return open(other).graph; });
    print_rows(invocation, "profile", "", rows);
    return kExitDone;
  }
  for (const Node& node : profiled.graph.nodes())
    rows.push_back(node_row(profiled, node, total.flops));
  print_rows(invocation, "profile", "nodes", rows);
  return kExitDone;
}

}  // namespace

Command profile_command() {
  std::vector<Option> options = network_options();
  options.push_back({.name = "--precision",
                     .kind = OptionKind::kValue,
                     .value_name = "NAME",
                     .doc = "precision policy",
                     .default_text = "f32",
                     .choices = {"f32", "tf32", "bf16", "f16"}});
  options.push_back({.name = "--train",
                     .kind = OptionKind::kFlag,
                     .value_name = "",
                     .doc = "counts of training too; refused, as this version has none",
                     .default_text = "",
                     .choices = {}});
  options.push_back({.name = "--per-node",
                     .kind = OptionKind::kFlag,
                     .value_name = "",
                     .doc = "one row an operator",
                     .default_text = "",
                     .choices = {}});
  options.push_back({.name = "--memory",
                     .kind = OptionKind::kValue,
                     .value_name = "BYTES",
                     .doc = "also the largest batch whose peak fits",
                     .default_text = "",
                     .choices = {},
                     .number = whole(1, int64_t{1} << 50)});
  options.push_back(format_option());
  return {.name = "profile",
          .summary = "counts what a network computes and moves; runs nothing",
          .description =
              "Multiply-adds of convolutions and matrix products (the field's convention), every "
              "operator's floating-point operations, unfused traffic and memory, of inference.",
          .positionals = {{"NAME", "a model or a workload of 'assay list', or an ONNX file"}},
          .options = std::move(options),
          .conflicts = {},
          .examples = {"assay profile resnet50", "assay profile resnet50 --per-node --format csv",
                       "assay profile detector.onnx --batch 8 --bind x.2=640 --bind x.3=640"},
          .run = run_profile};
}

}  // namespace assay::cli

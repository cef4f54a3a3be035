// SPDX-License-Identifier: Apache-2.0
//
// What a network computes and needs, counted and not run: totals, memory by purpose at the worst
// node, and the heaviest nodes as metrics that are tagged with the node.
#include <algorithm>

#include <fmt/format.h>

#include "graph/count.h"
#include "graph/memory.h"
#include "graph/passes/passes.h"
#include "model/model.h"
#include "record/digest.h"
#include "study/activity.h"
#include "study/model_subject.h"
#include "study/subject.h"

namespace assay {
namespace {

constexpr size_t kHeaviestNodes = 10;

struct Profiled {
  Graph graph;  // bound, in the case's precision
  std::string item;
  int64_t batch = 1;
};

Result<Profiled> open_profiled(const Case& wanted, const Plan& plan) {
  Profiled profiled;
  profiled.batch = wanted.integer("batch");
  Graph graph;
  if (!wanted.get("workload").empty()) {
    ASSAY_ASSIGN(const ChosenWorkload chosen, choose_workload(wanted));
    ASSAY_ASSIGN(graph,
                 build_model(chosen.variant.model, chosen.variant.model_config, Phase::kInference));
    profiled.item = chosen.workload.item;
    if (profiled.batch == 0) profiled.batch = chosen.variant.recipe.evaluation_batch;
  } else {
    ASSAY_ASSIGN(ModelSubject subject, open_model(wanted));
    graph = std::move(subject.graph);
    profiled.item = subject.item;
  }
  profiled.batch = std::max<int64_t>(profiled.batch, 1);
  if (!is_onnx_file(wanted.get("model"))) {  // a file's graph is bound to its batch already
    ASSAY_ASSIGN(graph, bind_dimensions(graph, {{"batch", profiled.batch}}));
  }
  ASSAY_ASSIGN(profiled.graph, apply_precision(graph, plan.precision));
  return profiled;
}

void add_totals(Record& record, const GraphCount& total) {
  const auto add = [&](const char* name, auto value) {
    record.add(name, static_cast<double>(value));
  };
  add("nodes", total.nodes);
  add("parameters", total.parameters);
  add("macs", total.macs);
  add("flops", total.flops);
  add("read_bytes", total.read_bytes);
  add("write_bytes", total.write_bytes);
  if (total.read_bytes + total.write_bytes > 0) {
    add("intensity_flop_per_byte", total.intensity_flop_per_byte());
  } else {
    record.missing["intensity_flop_per_byte"] = "it moves nothing";
  }
  add("activation_bytes", total.activation_bytes);
}

void add_memory(Record& record, const Graph& graph, const MemoryPlan& plan) {
  const auto add = [&](const char* name, int64_t bytes) {
    record.add(name, static_cast<double>(bytes));
  };
  add("peak_bytes", plan.peak.total());
  add("peak_parameter_bytes", plan.peak.parameters);
  add("peak_state_bytes", plan.peak.states);
  add("peak_constant_bytes", plan.peak.constants);
  add("peak_input_bytes", plan.peak.inputs);
  add("peak_activation_bytes", plan.peak.activations);
  add("peak_workspace_bytes", plan.peak.workspace);
  if (!graph.nodes().empty()) record.facts["peak_node"] = graph.nodes()[plan.peak_node].name;
}

// By FLOPs, then by bytes moved; equal ones in the order of the graph.
void add_heaviest(Record& record, const Graph& graph) {
  struct Weighed {
    const Node* node;
    Cost cost;
  };
  std::vector<Weighed> all;
  for (const Node& node : graph.nodes()) all.push_back({&node, node_cost(graph, node)});
  const auto bytes = [](const Cost& cost) { return cost.read_bytes + cost.write_bytes; };
  std::ranges::stable_sort(all, [&](const Weighed& a, const Weighed& b) {
    return std::pair(a.cost.flops, bytes(a.cost)) > std::pair(b.cost.flops, bytes(b.cost));
  });
  all.resize(std::min(all.size(), kHeaviestNodes));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const Node& node = *all[rank].node;
    const std::map<std::string, std::string> tags{
        {"rank", std::to_string(rank + 1)},
        {"node", node.name},
        {"op_type", node.op->type},
        {"output", graph.value(node.outputs.front()).type.text()}};
    record.metrics.push_back({"node_flops", all[rank].cost.flops, std::nullopt, tags});
    record.metrics.push_back({"node_bytes", bytes(all[rank].cost), std::nullopt, tags});
  }
}

}  // namespace

Result<Record> profile_activity(const ActivityContext& context) {
  const Case& wanted = context.request.requested;
  if (wanted.get("workload").empty() && wanted.get("model").empty()) {
    return Error{ErrorCode::kInvalid, "neither a workload nor a model is named", "case"};
  }
  ASSAY_ASSIGN(const Plan plan, plan_of(wanted));
  ASSAY_ASSIGN(const Profiled profiled, open_profiled(wanted, plan));
  Record record;
  record.status = Status::kMeasured;
  record.digest = digest_of(canonical_text(profiled.graph), "", "");
  context.digest(record.digest);
  record.facts["item"] = profiled.item;
  record.add("batch", static_cast<double>(profiled.batch));
  ASSAY_ASSIGN(const GraphCount total, count(profiled.graph));
  ASSAY_ASSIGN(const MemoryPlan memory, plan_memory(profiled.graph));
  add_totals(record, total);
  add_memory(record, profiled.graph, memory);
  add_heaviest(record, profiled.graph);
  return record;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_memory.h"

#include <string>

#include <fmt/format.h>

#include "cli/cases.h"
#include "cli/output.h"
#include "graph/memory.h"

namespace assay::cli {
namespace {

void add_purposes(Json& row, const MemoryPlan& plan) {
  row["peak_parameter_bytes"] = plan.peak.parameters;
  row["peak_state_bytes"] = plan.peak.states;
  row["peak_constant_bytes"] = plan.peak.constants;
  row["peak_input_bytes"] = plan.peak.inputs;
  row["peak_activation_bytes"] = plan.peak.activations;
  row["peak_workspace_bytes"] = plan.peak.workspace;
}

void add_largest_batch(Json& row, const Invocation& invocation, int64_t bytes,
                       const std::function<Graph(const Invocation&)>& opened) {
  const auto bound = [&](int64_t batch) -> Result<Graph> {
    Invocation changed = invocation;
    changed.options["--batch"] = {std::to_string(batch)};
    return opened(changed);
  };
  row["memory_bytes"] = bytes;
  const auto peak = [&](int64_t batch) {
    return plan_known_memory(value_or_fail(bound(batch))).peak.total();
  };
  if (peak(1) == peak(2)) {
    row["missing"]["largest_batch"] = "no dimension is the batch, or --bind gives its size";
    return;
  }
  const BatchFit fit = value_or_fail(largest_batch(bound, bytes, INT32_MAX));
  if (fit.batch > 0) {
    row["largest_batch"] = fit.batch;
    return;
  }
  row["missing"]["largest_batch"] =
      fmt::format("a batch of 1 needs {} bytes", fit.plan.peak.total());
}

}  // namespace

void add_memory(Json& row, const Invocation& invocation, const Graph& graph,
                const std::function<Graph(const Invocation&)>& opened) {
  const MemoryPlan plan = plan_known_memory(graph);
  add_purposes(row, plan);
  if (graph.nodes().empty()) {
    row["missing"]["peak_node"] = "the graph has no nodes";
  } else {
    row["peak_node"] = graph.nodes()[plan.peak_node].name;
  }
  if (const std::optional<int64_t> bytes = invocation.integer("--memory")) {
    add_largest_batch(row, invocation, *bytes, opened);
    return;
  }
  for (const char* field : {"memory_bytes", "largest_batch"})
    row["missing"][field] = "no --memory was given";
}

}  // namespace assay::cli

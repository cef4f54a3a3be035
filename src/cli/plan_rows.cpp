// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_rows.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "graph/count.h"
#include "graph/passes/passes.h"
#include "model/model.h"
#include "record/store.h"
#include "study/model_subject.h"
#include "study/subject.h"

namespace assay::cli {
namespace {

// The graph of one call or step of a case, bound to its batch; reads no data.
Result<Graph> graph_of(const Case& wanted) {
  std::string model = wanted.get("model");
  ModelConfig config;
  int64_t batch = wanted.integer("batch");
  if (!wanted.get("workload").empty()) {
    ASSAY_ASSIGN(const ChosenWorkload chosen, choose_workload(wanted));
    model = chosen.variant.model;
    config = chosen.variant.model_config;
    const Recipe& recipe = chosen.variant.recipe;
    if (batch == 0)
      batch = wanted.get("activity") == "train" ? recipe.batch : recipe.evaluation_batch;
  } else {
    ASSAY_ASSIGN(config, model_config(model, wanted.get("variant")));
    for (const auto& [key, value] : wanted.overrides()) config[key] = value;
  }
  ASSAY_ASSIGN(const Graph graph, build_model(model, config, Phase::kInference));
  return bind_dimensions(graph, {{"batch", std::max<int64_t>(batch, 1)}});
}

// What the same case took before, whatever its seed; nothing when it is new.
std::optional<double> earlier_duration(const std::vector<Record>& records, const Case& wanted) {
  const Result<Case> plain = wanted.with("seed", "0");
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const bool finished = record->status == Status::kMeasured || record->status == Status::kNoisy ||
                          record->status == Status::kShortOfTarget;
    if (!finished) continue;
    const Result<Case> other = record->measured_case.with("seed", "0");
    if (plain.ok() && other.ok() && *plain == *other) return record->duration_s;
  }
  return std::nullopt;
}

std::vector<Record> earlier_records(const Invocation& invocation) {
  const std::filesystem::path file = invocation.value_or("--db", "assay.db");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const Store store = value_or_fail(Store::open_read_only(file));
  RecordQuery query;
  query.with_samples = false;
  return value_or_fail(store.query(query));
}

Json plan_row(const Case& wanted, const std::vector<Record>& records,
              const StoppingOptions& stopping) {
  Json row{{"case", wanted.text()}, {"status", "skipped"}, {"reason", "dry run"}};
  const Result<Graph> graph = graph_of(wanted);
  if (!graph.ok() && graph.error().code == ErrorCode::kInvalid) fail(graph.error());
  const Result<GraphCount> counted = graph.ok() ? count(*graph) : graph.error();
  if (counted.ok()) {
    row["flops"] = counted->flops;
    row["bytes"] = static_cast<int64_t>(counted->read_bytes + counted->write_bytes);
  } else {
    row["missing"]["flops"] = counted.error().text();
    row["missing"]["bytes"] = counted.error().text();
  }
  if (const std::optional<double> time = earlier_duration(records, wanted))
    row["expected_time_s"] = *time;
  else
    row["missing"]["expected_time_s"] =
        wanted.get("activity") == "infer"
            ? fmt::format("not measured before; sampling takes {} to {} s", stopping.min_time_s,
                          stopping.max_time_s)
            : "not measured before";
  return row;
}

}  // namespace

int print_plan(const Invocation& invocation, std::span<const Case> cases,
               const StoppingOptions& stopping) {
  const std::vector<Record> records = earlier_records(invocation);
  Json rows = Json::array();
  for (const Case& one : cases) rows.push_back(plan_row(one, records, stopping));
  print_rows(invocation, invocation.command_name, "plan", rows);
  return kExitDone;
}

}  // namespace assay::cli

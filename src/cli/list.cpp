// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/rows.h"
#include "data/dataset.h"
#include "engine/plugin.h"
#include "graph/operator.h"
#include "model/model.h"
#include "study/study.h"

namespace assay::cli {
namespace {

const std::vector<std::string> kKinds{"workloads", "models",  "datasets", "engines",
                                      "kernels",   "studies", "devices",  "operators"};

// A row a variant, what anybody can run first.
Json workload_rows() {
  const DatasetCatalogue catalogue(DataRoots::from_environment());
  Json rows = Json::array();
  for (const Workload& workload : all_workloads()) {
    std::vector<WorkloadVariant> variants = workload.variants;
    std::stable_partition(variants.begin(), variants.end(),
                          [](const WorkloadVariant& one) { return one.name == "small"; });
    Json names = Json::array();
    for (const WorkloadVariant& variant : variants) names.push_back(variant.name);
    for (const WorkloadVariant& variant : variants) {
      Json row{{"name", workload.name},     {"variant", variant.name},
               {"domain", workload.domain}, {"suite", workload.suite},
               {"model", variant.model},    {"dataset", variant.dataset},
               {"metric", workload.metric}, {"target", variant.recipe.target},
               {"variants", names}};
      const Result<DatasetStatus> data = catalogue.status(variant.dataset);
      if (!data.ok() || !is_usable(data->state)) {
        row["status"] = "skipped";
        row["reason"] = data.ok() ? data->reason : data.error().text();
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json model_rows() {
  Json rows = Json::array();
  for (const ModelEntry& model : list_models()) {
    Json variants = Json::array({"reference"});
    for (const Workload& workload : all_workloads())
      for (const WorkloadVariant& variant : workload.variants)
        if (variant.model == model.name && variant.name != "reference")
          variants.push_back(variant.name);
    Json row{{"name", model.name},
             {"family", model.domain},
             {"variants", std::move(variants)},
             {"doc", model.summary + "; " + model.source}};
    const Result<Graph> graph = build_model(model.name, {}, Phase::kInference);
    int64_t parameters = 0;
    if (graph.ok())
      for (const Parameter& parameter : graph->parameters())
        parameters += graph->value(parameter.value).type.shape->elements().value();
    if (graph.ok())
      row["parameters"] = parameters;
    else
      row["missing"]["parameters"] = graph.error().text();
    rows.push_back(std::move(row));
  }
  return rows;
}

Json dataset_rows() {
  Json rows = Json::array();
  for (const DatasetStatus& status : DatasetCatalogue(DataRoots::from_environment()).list()) {
    Json row{{"name", status.name},
             {"license", status.license},
             {"package", status.source},
             {"prepared", status.state == DatasetState::kReady},
             {"reason", status.reason}};
    row["missing"]["items"] = "counted when the data are read";
    if (!is_usable(status.state)) row["status"] = "skipped";
    rows.push_back(std::move(row));
  }
  return rows;
}

Json engine_rows() {
  Json rows = Json::array();
  for (const EngineInfo& engine : available_engines()) {
    Json row{{"name", engine.name}, {"version", engine.version}};
    row["path"] = engine.plugin.empty() ? "built in" : engine.plugin.string();
    if (!engine.available) {
      row["status"] = "unsupported";
      row["reason"] = engine.reason;
    }
    for (const char* field : {"devices", "precisions", "trains"})
      row["missing"][field] = "known only when the engine is loaded";
    rows.push_back(std::move(row));
  }
  return rows;
}

Json study_rows() {
  Json rows = Json::array();
  for (const std::string& name : all_study_names()) {
    const std::string file = study_file(name);
    const Result<Study> study = read_study(file);
    Json row{{"name", name}, {"path", file}, {"doc", study.ok() ? study->title : ""}};
    if (!study.ok()) {
      row["status"] = "failed";
      row["reason"] = study.error().text();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// The operator table, as docs/operators.md needs it.
Json operator_rows() {
  Json rows = Json::array();
  for (const OpEntry* op : op_table().entries())
    rows.push_back({{"name", op->type},
                    {"domain", op->domain},
                    {"since_version", op->since_version},
                    {"view", op->is_view},
                    {"cost", op->cost != nullptr},
                    {"reference", op->kernel != nullptr || op->fold != nullptr},
                    {"doc", op->note}});
  return rows;
}

// Text files of a folder, by name; the folder may be absent.
Json file_rows(const std::string& folder) {
  Json rows = Json::array();
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(share_folder() / folder, ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files)
    rows.push_back({{"name", file.stem().string()}, {"doc", ""}, {"path", file.string()}});
  return rows;
}

Json rows_of(const std::string& kind) {
  if (kind == "workloads") return workload_rows();
  if (kind == "models") return model_rows();
  if (kind == "datasets") return dataset_rows();
  if (kind == "engines") return engine_rows();
  if (kind == "studies") return study_rows();
  if (kind == "operators") return operator_rows();
  return file_rows(kind);
}

// One line a name: what there is of every kind.
Json overview_rows() {
  Json rows = Json::array();
  for (const std::string& kind : kKinds) {
    if (kind == "operators") continue;  // nothing that one would name to a command
    for (const Json& row : rows_of(kind)) {
      // A workload has a row a variant; the first says whether it can run at all.
      if (!rows.empty() && rows.back()["name"] == row["name"]) continue;
      Json line{{"kind", kind}, {"name", row["name"]}};
      for (const char* field : {"doc", "suite", "package", "version"})
        if (row.contains(field) && !line.contains("doc")) line["doc"] = row[field];
      for (const char* field : {"status", "reason"})
        if (row.contains(field)) line[field] = row[field];
      rows.push_back(std::move(line));
    }
  }
  return rows;
}

int run_list(const Invocation& invocation) {
  if (invocation.positionals.empty()) {
    print_rows(invocation, "list", "all", overview_rows());
    return kExitDone;
  }
  const std::string& kind = invocation.positionals[0];
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    const auto nearest = nearest_name(kind, kKinds);
    throw UserError(fmt::format("there is no list of '{}'", kind), "assay list",
                    nearest ? fmt::format("did you mean '{}'?", *nearest)
                            : fmt::format("one of: {}", join(kKinds, ", ")));
  }
  print_rows(invocation, "list", kind, rows_of(kind));
  return kExitDone;
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary = "the catalogue: workloads, models, data sets, engines, studies",
          .description = "Reads text files only; no engine is loaded.",
          .positionals = {{"KIND", join(kKinds, ", ") + "; all when left out", false}},
          .options = {format_option()},
          .conflicts = {},
          .examples = {"assay list workloads"},
          .run = run_list};
}

}  // namespace assay::cli

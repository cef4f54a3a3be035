// SPDX-License-Identifier: Apache-2.0
//
// Workload: a Task and its numbers, read from workloads/NAME.toml. docs/workloads.md has the
// format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "graph/graph.h"
#include "model/phase.h"
#include "workload/optimizer.h"
#include "workload/schedule.h"
#include "workload/task.h"

namespace assay {

struct DataRoots;

// How a variant is trained and judged.
struct Recipe {
  int64_t batch = 0;
  double epochs = 0;  // the schedule's length; training past it is short of target
  double evaluations_per_epoch = 1;
  int64_t evaluation_batch = 0;
  double target = 0;  // of the metric; larger is better
  double label_smoothing = 0;
  OptimizerConfig optimizer;
  Schedule schedule;
  std::map<std::string, std::string> extra;  // the task's own keys: "augmentation.flip"
};

struct WorkloadVariant {
  std::string name;   // "small", "reference"
  std::string model;  // a name of src/model/
  std::map<std::string, std::string> model_config;
  std::string dataset;  // a name of src/data/
  Recipe recipe;
};

// What a target is worth: trivial, simpler and best qualities measured by us.
struct Baseline {
  std::string name;
  double quality = 0;
  std::string how;
};

struct Workload {
  std::string name;
  std::string task;    // which Task class
  std::string domain;  // "vision"
  std::string suite;   // "MLPerf Training v0.5"
  std::string metric;  // "top1"
  std::string item;    // "image": what throughput counts
  std::string data_license;
  std::vector<WorkloadVariant> variants;
  std::vector<Baseline> baselines;

  const WorkloadVariant* variant(std::string_view name) const;
};

// Strict: unknown keys (with the nearest one), wrong types, values out of range and missing keys
// are kInvalid with `place` and the line. Cost: under a millisecond.
Result<Workload> parse_workload(std::string_view toml, std::string_view place);
Result<Workload> read_workload(const std::filesystem::path& toml_file);
// Every workloads/*.toml of the share folder, sorted by name.
Result<std::vector<Workload>> load_workloads(const std::filesystem::path& folder);

// Applies "optimizer.rate" -> "0.1" (a case's set.* keys): a key of the recipe, of the task's own
// ("augmentation.flip"), or "model." and a key of the model's config. kInvalid names the key and
// the nearest one.
Result<WorkloadVariant> override_recipe(WorkloadVariant variant,
                                        const std::map<std::string, std::string>& overrides);

// What the digest is taken of: model config, recipe, data set, as canonical JSON.
Json recipe_json(const Workload& workload, const WorkloadVariant& variant);

// The variant's network, without its data: what `profile` counts. Its "batch" is symbolic; the
// recipe's label smoothing is part of the training graph.
Result<Graph> variant_graph(const WorkloadVariant& variant, Phase phase);

// kNotFound with a hint when the data set is not there. Data are looked for where the environment
// says, or in `roots`.
Result<std::unique_ptr<Task>> make_task(const Workload& workload, const WorkloadVariant& variant);
Result<std::unique_ptr<Task>> make_task(const Workload& workload, const WorkloadVariant& variant,
                                        const DataRoots& roots);

}  // namespace assay

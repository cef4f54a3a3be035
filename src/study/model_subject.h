// SPDX-License-Identifier: Apache-2.0
//
// A bare model as the subject of inference: its graph, and inputs drawn from the seed. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "graph/graph.h"
#include "model/model.h"
#include "record/case.h"

namespace assay {

// The numbers of a model: variant "reference" is the builder's own defaults, any other the
// configuration of a workload's variant of that name that uses the model.
Result<ModelConfig> model_config(const std::string& model, const std::string& variant);

struct ModelSubject {
  Graph graph;  // for inference, with the symbolic dimension "batch"
  std::string item;
  std::string digest;
};
// The case's set.* keys override the configuration.
Result<ModelSubject> open_model(const Case& wanted);

// Buffers of the graph's inputs or outputs for a batch; kUnsupported names a value whose shape is
// not known then.
Result<std::vector<Tensor>> input_buffers(const Graph& graph, int64_t batch);
Result<std::vector<Tensor>> output_buffers(const Graph& graph, int64_t batch);

// Standard normal numbers for floating types, 0 or 1 for others.
void fill_random(Tensor& tensor, RandomKey key);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// A bare model as the subject of inference: its graph, and inputs drawn from the seed. Thread-safe.
#pragma once

#include <map>
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

// Whether a model's name is that of an ONNX file.
bool is_onnx_file(const std::string& name);

// The sizes that the unknown dimensions of a file's inputs take: those of `given`, and the batch
// size for the dimension that all inputs with an unknown first dimension begin with, if none is
// given for it. kInvalid names a dimension that no input has.
Result<Graph> bind_file(const Graph& graph, std::map<std::string, int64_t> given, int64_t batch);

struct ModelSubject {
  Graph graph;  // for inference, with the symbolic dimension "batch"; of a file: with none
  std::string item;
  std::string digest;
};
// The case's set.* keys override the configuration; of a file, set.bind.DIM gives the size of a
// dimension, and the batch size is bound.
Result<ModelSubject> open_model(const Case& wanted);

// Buffers of the graph's inputs or outputs for a batch; kUnsupported names a value whose shape is
// not known then.
Result<std::vector<Tensor>> input_buffers(const Graph& graph, int64_t batch);
Result<std::vector<Tensor>> output_buffers(const Graph& graph, int64_t batch);

// Standard normal numbers for floating types, 0 or 1 for others.
void fill_random(Tensor& tensor, RandomKey key);

}  // namespace assay

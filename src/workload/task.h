// SPDX-License-Identifier: Apache-2.0
//
// Task: the code of a workload: its graphs, its batches, its evaluation. The numbers are in TOML.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "data/batch.h"
#include "graph/graph.h"
#include "quality/evaluator.h"

namespace assay {

struct TaskItems {
  int64_t training = 0;    // of one epoch
  int64_t evaluation = 0;  // of one evaluation
};

// One variant of a workload, ready to run. The graphs have the symbolic dimension "batch".
class Task {
 public:
  virtual ~Task() = default;
  // Output 0 is the scalar loss; inputs are those of training batches.
  virtual const Graph& training_graph() const = 0;
  // Inputs are the first inputs of evaluation batches.
  virtual const Graph& inference_graph() const = 0;
  virtual TaskItems items() const = 0;
  virtual Result<std::unique_ptr<BatchSource>> training_batches(int64_t batch,
                                                                RandomKey seed) const = 0;
  // Every evaluation item exactly once; the last batch may be smaller.
  virtual Result<std::unique_ptr<BatchSource>> evaluation_batches(int64_t batch) const = 0;
  virtual std::unique_ptr<Evaluator> evaluator() const = 0;

  int64_t training_items() const { return items().training; }
};

}  // namespace assay

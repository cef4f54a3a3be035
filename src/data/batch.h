// SPDX-License-Identifier: Apache-2.0
//
// Batches and where they come from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "graph/tensor.h"

namespace assay {

struct Batch {
  std::vector<Tensor> inputs;  // in the order of the graph's inputs
  int64_t items = 0;           // counted, never assumed
  int64_t epoch = 0;           // 0-based, of the first item
  int64_t step = 0;            // 0-based
};

// A sequence of batches, deterministic from its seed. Not thread-safe; PrefetchedSource runs one on
// a thread of its own.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Fills `batch`, reusing its tensors where they fit. False at the end (training sources never
  // end).
  virtual Result<bool> next(Batch& batch) = 0;
  // Continues as if `step` batches had been taken.
  virtual Result<void> skip_to(int64_t step) = 0;
};

}  // namespace assay

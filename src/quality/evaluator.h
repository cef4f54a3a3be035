// SPDX-License-Identifier: Apache-2.0
//
// Evaluator: a quality metric accumulated over the evaluation set.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "base/error.h"
#include "data/batch.h"
#include "graph/tensor.h"

namespace assay {

// Not thread-safe.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void reset() = 0;
  // `outputs` of the inference graph for `batch` (whose inputs include the labels, after the
  // inference graph's own inputs).
  virtual Result<void> add(const Batch& batch, std::span<const Tensor> outputs) = 0;
  virtual Result<double> value()
      const = 0;  // the workload's metric; kInvalid when nothing was added
  virtual int64_t items() const = 0;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// WeightStore: the parameters and states that a trainer and its live programs share, by name.
// Values are changed in place, never replaced, so whoever holds a tensor sees later steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "engine/engine.h"
#include "graph/graph.h"

namespace assay::torch_engine {

struct WeightStore {
  std::map<std::string, at::Tensor, std::less<>> tensors;
  uint64_t version = 1;  // raised whenever values change: programs then refold their weights

  Bytes bytes() const;
};

// A store of its own with `values`, which it takes apart as it goes, so that weights do not exist
// twice; 4-D ones in channels-last order if asked.
Result<std::shared_ptr<WeightStore>> make_store(NamedTensors values, at::Device device,
                                                bool channels_last);

}  // namespace assay::torch_engine

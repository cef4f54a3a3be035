// SPDX-License-Identifier: Apache-2.0
//
// The torch engine: libtorch, the default engine; it trains and infers, on CPU and CUDA.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engines/torch/weight_store.h"

namespace assay::torch_engine {

std::unique_ptr<Engine> make_torch_engine();

// Inference of `graph` with the weights of `store`. Frozen: nobody else uses the store and the
// originals of folded weights may go.
Result<std::unique_ptr<Program>> make_program(const Graph& graph, const Plan& plan,
                                              std::shared_ptr<WeightStore> store, bool frozen,
                                              RandomKey seed);

}  // namespace assay::torch_engine

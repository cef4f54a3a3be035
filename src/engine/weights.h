// SPDX-License-Identifier: Apache-2.0
//
// The first values of a graph's parameters and states, the same for every engine: given ones by
// name, the rest drawn from the seed. Cost: one pass over the elements.
#pragma once

#include "base/error.h"
#include "base/random.h"
#include "engine/engine.h"
#include "graph/graph.h"

namespace assay {

// Every parameter and state of `graph` by name. Given tensors are shared, not copied; one of the
// wrong type or shape is kInvalid, names the graph does not have are ignored (a checkpoint also
// holds optimiser state).
Result<NamedTensors> initial_tensors(const Graph& graph, const NamedTensors& given, RandomKey seed);

// kInvalid names the first parameter or state that `given` lacks, or has with the wrong type.
Result<void> check_complete(const Graph& graph, const NamedTensors& given);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What `assay profile` says of memory: the peak by purpose, and with --memory the largest batch
// that fits.
#pragma once

#include <functional>

#include "base/json.h"
#include "cli/command.h"
#include "graph/graph.h"

namespace assay::cli {

// Adds to the total row of `graph`. `opened` gives the graph of another invocation, here one that
// differs by its batch.
void add_memory(Json& row, const Invocation& invocation, const Graph& graph,
                const std::function<Graph(const Invocation&)>& opened);

}  // namespace assay::cli

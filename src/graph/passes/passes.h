// SPDX-License-Identifier: Apache-2.0
//
// Passes: Graph in, Graph out.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace assay {

enum class Precision : uint8_t { kF32, kTF32, kBF16, kF16, kInt8 };
std::string_view precision_name(Precision precision);
Result<Precision> parse_precision(std::string_view name);

// The same graph with symbolic dimensions replaced by sizes and every shape inferred again.
Result<Graph> bind_dimensions(const Graph& graph, const std::map<std::string, int64_t>& sizes);

// The precision policy as a graph: for bf16 and f16, convolutions and matrix products take cast
// weights (one Cast a parameter) and 16-bit activations flow between them; normalisation keeps f32
// statistics and scales; softmax, losses and reductions to the loss are f32; outputs keep their
// type. f32 and tf32 return the graph unchanged (tf32 is the engine's annotation).
Result<Graph> apply_precision(const Graph& graph, Precision precision);

// The graph without the nodes that no output or state needs.
Graph remove_dead_nodes(const Graph& graph);

}  // namespace assay

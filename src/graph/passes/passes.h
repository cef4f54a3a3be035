// SPDX-License-Identifier: Apache-2.0
//
// Passes: Graph in, Graph out.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "base/units.h"
#include "graph/graph.h"

namespace assay {

enum class Precision : uint8_t { kF32, kTF32, kBF16, kF16, kInt8 };
std::string_view precision_name(Precision precision);
Result<Precision> parse_precision(std::string_view name);

// The same graph with symbolic dimensions replaced by sizes and every shape inferred again.
Result<Graph> bind_dimensions(const Graph& graph, const std::map<std::string, int64_t>& sizes);

// What a body graph (of If, Loop, Scan) is for inputs of these types, every shape inferred again;
// inputs with data (null where it is not known; `data` may be shorter) count as constants. All
// inputs stay declared. States do not move on.
Result<Graph> specialize(const Graph& graph, std::span<const TensorType> inputs,
                         std::span<const Tensor* const> data);

// The precision policy as a graph: for bf16 and f16, convolutions and matrix products take cast
// weights (one Cast a parameter) and 16-bit activations flow between them; normalisation keeps f32
// statistics and scales; softmax, losses and reductions to the loss are f32; outputs keep their
// type. f32 and tf32 return the graph unchanged (tf32 is the engine's annotation).
Result<Graph> apply_precision(const Graph& graph, Precision precision);

// The graph without the nodes that no output or state needs.
Graph remove_dead_nodes(const Graph& graph);

// Nodes of constants only become constants, computed by the reference kernels, unless an output has
// more than `largest` bytes; control flow and random operators stay. Then dead nodes go.
Result<Graph> fold_constants(const Graph& graph, Bytes largest = Bytes{int64_t{64} << 20});

// For inference: a BatchNormalization that alone uses a Conv becomes part of its weights and bias,
// where all of them have data (given by a file or by materialize_weights). States that it no longer
// needs stay declared.
Result<Graph> fold_batch_norms(const Graph& graph);

// The same graph for another batch size: the leading dimension of all inputs, symbolic or not, and
// where Reshapes to a constant shape begin with it. kUnsupported names the first output whose
// leading dimension does not follow.
Result<Graph> rebind_batch(const Graph& graph, int64_t batch);

// Every parameter and state with data: given ones as they are, the others drawn from their recipe
// with the seed, the same as every engine draws.
Result<Graph> materialize_weights(const Graph& graph, RandomKey seed);

}  // namespace assay

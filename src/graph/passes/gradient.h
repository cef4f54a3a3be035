// SPDX-License-Identifier: Apache-2.0
//
// gradient: the reverse-mode derivative of a graph, as a graph. Costs a few microseconds a node;
// weights need not exist. Source: Griewank and Walther, "Evaluating Derivatives", chapter 3.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/graph.h"

namespace assay {

// The suffix of a gradient's name: the gradient of "fc.weight" is the output "fc.weight.gradient".
inline constexpr std::string_view kGradientSuffix = ".gradient";

// The graph with its outputs, states and keys as they are, and one output more for each of
// `parameters` (names of parameters or inputs): the gradient of the sum of `losses` (indices of
// outputs, each a scalar of a floating type). Nothing is computed twice. Errors: kInvalid for a
// loss that is no scalar, an unknown name, a parameter that is not floating or does not reach a
// loss; kUnsupported names the node on the way that has no gradient.
Result<Graph> gradient(const Graph& graph, std::span<const size_t> losses,
                       std::span<const std::string> parameters);

// The same for the first output and every trainable parameter.
Result<Graph> gradient(const Graph& graph);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Names in graphs: what a subgraph takes from around it, and an order of the nodes in which every
// value is defined before it is used. Linear in the size of the graph, times the nesting of
// subgraphs.
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "onnx/records.h"

namespace assay::onnx {

// Tensors of subgraphs that the outermost graph holds in their place, and the key by which scopes
// know them there.
using Hoisted = std::unordered_map<const TensorRecord*, std::string_view>;

// The tensors that a graph holds, with the names they have there: initialisers, and the values of
// Constant nodes. Not those of its subgraphs.
std::vector<std::pair<std::string_view, const TensorRecord*>> held_tensors(
    const GraphRecord& graph);
// The subgraphs among a node's attributes.
std::vector<const GraphRecord*> subgraphs(const NodeRecord& node);

// The names that a graph uses and does not define, each once, in the order of first use; and the
// keys of the hoisted tensors it holds.
std::vector<std::string_view> free_names(const GraphRecord& graph, const Hoisted& hoisted);
// Those of all subgraphs of a node together.
std::vector<std::string_view> captured_names(const NodeRecord& node, const Hoisted& hoisted);

// The nodes' indices in such an order: that of the file where it is one. `available` are the names
// defined before the first node. kInvalid names a value that nothing defines, or that is defined
// twice, or a node on a cycle.
Result<std::vector<size_t>> execution_order(const GraphRecord& graph,
                                            const std::unordered_set<std::string_view>& available,
                                            const Hoisted& hoisted);

}  // namespace assay::onnx

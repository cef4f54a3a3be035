// SPDX-License-Identifier: Apache-2.0
//
// Fusion for inference on CPU: a convolution takes in the batch norm that follows it (folded into
// its weights), an addition and a relu (oneDNN post-operations), with weights in oneDNN's own
// layout. Through libtorch's mkldnn:: operators, the ones that its compiler uses. Folding follows
// the weights: it is made anew when they have changed.
#pragma once

#include <optional>
#include <vector>

#include "engines/torch/lowering.h"

namespace assay::torch_engine {

// Whether this libtorch has the operators.
bool has_fused_convolution();

// The fused steps of a graph; `taken[n]` says whether node n is part of one. A step stands at the
// place of its last node; `uses` is corrected accordingly.
std::vector<Step> fuse_convolutions(const Graph& graph, std::vector<ValueUse>& uses,
                                    const LowerOptions& options, std::vector<bool>& taken);

}  // namespace assay::torch_engine

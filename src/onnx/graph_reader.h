// SPDX-License-Identifier: Apache-2.0
//
// Records to a Graph. Nodes may come in any order that has no cycle. A subgraph becomes a closed
// Graph: the outer values it uses are appended to the inputs of its node, and as graph inputs to
// every subgraph of that node, in the same order; the node's attribute `captures` is their number.
// Outer constants are copied into it instead (their data is shared), so that shapes stay known.
#pragma once

#include "base/error.h"
#include "graph/graph.h"
#include "onnx/read.h"
#include "onnx/records.h"
#include "onnx/tensor_data.h"

namespace assay::onnx {

// Functions must have been inlined. The place of errors is the node or value.
Result<Graph> read_graph(const ModelRecord& model, const TensorOrigin& origin,
                         const OnnxOptions& options);

}  // namespace assay::onnx

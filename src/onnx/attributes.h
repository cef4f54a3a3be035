// SPDX-License-Identifier: Apache-2.0
//
// Attributes of a node, decoded. Subgraphs are not among them: the graph reader closes those.
#pragma once

#include "base/error.h"
#include "graph/attribute.h"
#include "onnx/records.h"
#include "onnx/tensor_data.h"

namespace assay::onnx {

// The message names the attribute: kInvalid for one that says another type than it has, or is given
// twice; kUnsupported for types, lists of tensors and lists of graphs.
Result<Attributes> attributes_of(const NodeRecord& node, const TensorOrigin& origin);

}  // namespace assay::onnx

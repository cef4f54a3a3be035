// SPDX-License-Identifier: Apache-2.0
//
// ONNX files as graphs. The file is mapped and weights stay in the map, which lives as long as a
// tensor of the graph points into it; a file changed on disk meanwhile changes them. Reading costs
// about ten microseconds a node and nothing for weights, whatever their size. Thread-safe.
//
// Opsets 1 to 25 of the default domain: older ones are upgraded to the internal opset, where that
// can be done exactly; of newer ones, operators and attributes that this version does not know are
// named. Operators nobody knows are kept (Graph::unknown_ops).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/graph.h"

namespace assay {

struct OnnxOptions {
  // Shapes that inputs take in place of what the file says, by name: its unknown dimensions get
  // sizes. One that contradicts the file is an error.
  std::map<std::string, Shape, std::less<>> input_shapes = {};
};

// Errors name the file, and the node and attribute where there is one: kIo, kCorrupt, kInvalid,
// kUnsupported.
Result<Graph> read_onnx(const std::filesystem::path& file, const OnnxOptions& options = {});

// The same from memory: external data is looked for in `folder`, or refused if that is empty.
// Tensors point into `bytes` while `owner` lives; without an owner they are copies.
Result<Graph> parse_onnx(std::string_view bytes, const std::string& place,
                         const OnnxOptions& options = {}, const std::filesystem::path& folder = {},
                         const std::shared_ptr<void>& owner = nullptr);

// A single tensor (TensorProto), as the test data of ONNX has them.
Result<Tensor> parse_onnx_tensor(std::string_view bytes, const std::string& place);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Graphs as standard ONNX files, at the internal opset. Parameters and states become initialisers
// with their given values, or with values drawn from the seed; subgraphs refer to outer values by
// name again. Operators of domain "assay" are written as such, but for those that mean nothing in
// inference (StopGradient is Identity). Cost: a copy of the weights. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace assay {

struct OnnxWriteOptions {
  uint64_t seed = 0;  // of parameters whose values are not given
  // Weights of more bytes in all than this go into FILE.data beside the file, as protobuf's other
  // implementations count only to 2 GiB.
  int64_t inline_limit = int64_t{1} << 30;
};

// kUnsupported for a graph whose states have a next value: a file holds inference.
Result<std::string> onnx_bytes(const Graph& graph, const OnnxWriteOptions& options = {});
// The file, and FILE.data where needed, appear whole or not at all.
Result<void> write_onnx(const Graph& graph, const std::filesystem::path& file,
                        const OnnxWriteOptions& options = {});

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Bytes to records: one pass over the wire format, nothing copied but lists of numbers. Memory is
// at most a constant times the input's size. Thread-safe. Field numbers: onnx.proto of ONNX 1.17.
#pragma once

#include <string_view>

#include "base/error.h"
#include "onnx/records.h"

namespace assay::onnx {

// kCorrupt says what the bytes are instead (text, a Git LFS pointer, a truncated file), or near
// which node the damage is. `place` names the file.
Result<ModelRecord> decode_model(std::string_view bytes, std::string_view place);

// A TensorProto on its own, as the test data of ONNX has them.
Result<TensorRecord> decode_tensor(std::string_view bytes, std::string_view place);

}  // namespace assay::onnx

// SPDX-License-Identifier: Apache-2.0
//
// TensorProto to Tensor. Elements that lie in a file as they lie in memory are not copied: the
// tensor points into the map, at whatever address that is (Tensor::aligned() copies where a kernel
// needs alignment). Lists of integers and sparse tensors are converted. Every size is checked
// against the bytes that are there before memory is taken.
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "graph/tensor.h"
#include "onnx/external_files.h"
#include "onnx/records.h"

namespace assay::onnx {

// Where a record's bytes live.
struct TensorOrigin {
  std::shared_ptr<void> owner;     // of the bytes that records view; may be null: then copied
  ExternalFiles* files = nullptr;  // null: external data is refused
};

// kUnsupported: "strings are out of scope", "complex numbers ...".
Result<DType> dtype_of(int64_t data_type);

// Errors name what is wrong; the caller adds which tensor. kInvalid, kCorrupt, kUnsupported, kIo.
Result<Tensor> tensor_of(const TensorRecord& record, const TensorOrigin& origin);
// The dense tensor; at most a thousand times larger than what describes it.
Result<Tensor> tensor_of(const SparseTensorRecord& record, const TensorOrigin& origin);

}  // namespace assay::onnx

// SPDX-License-Identifier: Apache-2.0
//
// NPY, NumPy's format of one array (NEP 1, versions 1 to 3): what users exchange tensors in.
// Little-endian numbers and bools in row-major order. NumPy has no bf16, 8-bit floating or 4-bit
// types: such tensors are written as f32 or bytes. Pure functions; cost: one copy of the elements.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/tensor.h"

namespace assay {

// kCorrupt for anything but a whole, well-formed file; kUnsupported for column-major or big-endian
// arrays, objects and texts.
Result<Tensor> parse_npy(std::string_view bytes, std::string_view place);

std::string npy_bytes(const Tensor& tensor);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The types that a file gives to values.
#pragma once

#include <string_view>

#include "base/error.h"
#include "graph/shape.h"
#include "onnx/records.h"

namespace assay::onnx {

// "sequences are out of scope" and the like are kUnsupported; kInvalid where no type is given.
Result<TensorType> tensor_type_of(const ValueRecord& value);

// Unknown dimensions without a name get one, "INPUT.AXIS", by which they can be bound.
void name_dimensions(TensorType& type, std::string_view input);

// The declared type with its unknown dimensions set as in `shape`; kInvalid where they contradict.
Result<TensorType> with_shape(const TensorType& declared, const Shape& shape);

}  // namespace assay::onnx

// SPDX-License-Identifier: Apache-2.0
//
// Model-local functions inlined: every call becomes the nodes of the function's body, on the call's
// values, with the call's attributes; its inner values get names of their own. Calls may nest, a
// function that calls itself is an error. At most a million nodes come of it.
#pragma once

#include "base/error.h"
#include "onnx/records.h"

namespace assay::onnx {

Result<void> inline_functions(ModelRecord& model);

}  // namespace assay::onnx

// SPDX-License-Identifier: Apache-2.0
//
// Assay's tensors as libtorch's and back. Views share memory: the owner must outlive them. Element
// types have one counterpart each, or none (4-bit types).
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "graph/tensor.h"

namespace assay::torch_engine {

std::optional<at::ScalarType> scalar_type(DType dtype);
std::optional<DType> dtype_of(at::ScalarType type);

// Aliases the view's memory, strides kept. kUnsupported when the type has no counterpart.
Result<at::Tensor> alias(const TensorView& view, at::Device device);
// Describes a tensor of any device, strides kept. The tensor must outlive the view.
TensorView view_of(const at::Tensor& tensor, const Device& device);
// A packed row-major copy in host memory.
Tensor to_host(const at::Tensor& tensor);
// A libtorch tensor of its own with the values of `tensor`; 4-D ones in channels-last order if
// asked.
Result<at::Tensor> from_host(const Tensor& tensor, at::Device device, bool channels_last);

// Integers of a host tensor of any integer type ("axes", "shape" and the like).
std::vector<int64_t> integers(const Tensor& tensor);
std::vector<int64_t> integers(const at::Tensor& tensor);

}  // namespace assay::torch_engine

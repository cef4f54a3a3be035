// SPDX-License-Identifier: Apache-2.0
//
// A call as soon as a leaf's gradient of this backward pass has been accumulated. Kept apart
// because it needs autograd's own headers.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

namespace assay::torch_engine {

// Replaces an earlier hook of the same leaf. An empty function removes it.
void set_gradient_hook(const at::Tensor& leaf, std::function<void(const at::Tensor& leaf)> hook);

}  // namespace assay::torch_engine

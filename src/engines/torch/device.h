// SPDX-License-Identifier: Apache-2.0
//
// Devices of libtorch here. CUDA kernels are in a library of their own, loaded on first need and
// before any query: libtorch remembers the answer to "is there CUDA?" for good.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "base/json_fwd.h"
#include "engine/engine.h"

namespace assay::torch_engine {

// The CPU, and every CUDA device that libtorch can use. Loads CUDA where a driver is installed.
std::vector<Device> libtorch_devices();
// kUnsupported says what is missing.
Result<at::Device> open_device(const Device& device);

// Sets libtorch's number of threads for this process unless it is that already; 0: every core that
// the process may use. Returns the number.
int use_threads(int threads);
// Process-wide settings that a plan asks for: deterministic kernels, TF32.
void configure(const Plan& plan);
// The instruction set that libtorch's own kernels use: "AVX512".
std::string instruction_set();

}  // namespace assay::torch_engine

// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/device.h"

#include <dlfcn.h>
#include <sched.h>

#include <string>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include "engines/torch/guarded.h"

namespace assay::torch_engine {
namespace {

// The number of CUDA devices, or why there is none. Asked once: neither driver nor library comes or
// goes while a process lives.
const Result<int>& cuda_devices() {
  static const Result<int> kDevices = guarded("", []() -> Result<int> {
    const auto missing = [](const std::string& what) {
      return Error{ErrorCode::kUnsupported, "no CUDA device: " + what, ""};
    };
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      return missing("libcuda.so.1 (the NVIDIA driver) is not installed");
    }
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      const char* reason = dlerror();
      return missing(std::string(reason != nullptr ? reason : "libtorch_cuda.so does not load") +
                     "; ./dev setup --cuda fetches it");
    }
    const auto count = static_cast<unsigned char>(at::detail::getCUDAHooks().deviceCount());
    if (count == 0) return missing("the driver reports none");
    return int{count};
  });
  return kDevices;
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace

std::vector<Device> libtorch_devices() {
  std::vector<Device> devices = {Device{}};
  if (const auto& count = cuda_devices(); count.ok()) {
    for (int i = 0; i < count.value(); ++i) devices.push_back({DeviceKind::kCuda, i});
  }
  return devices;
}

Result<at::Device> open_device(const Device& device) {
  if (device == Device{}) return at::Device(at::kCPU);
  if (device.kind != DeviceKind::kCuda) {
    return Error{ErrorCode::kUnsupported, "the torch engine has no device " + device.text(), ""};
  }
  const auto& count = cuda_devices();
  if (!count.ok()) return count.error();
  if (device.index >= count.value()) {
    return Error{ErrorCode::kUnsupported,
                 "no CUDA device: there are " + std::to_string(count.value()), device.text()};
  }
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.index));
}

int use_threads(int threads) {
  const int wanted = threads > 0 ? threads : available_cores();
  if (at::get_num_threads() != wanted) at::set_num_threads(wanted);
  return wanted;
}

void configure(const Plan& plan) {
  use_threads(plan.threads);
  auto& context = at::globalContext();
  if (plan.device.kind != DeviceKind::kCuda) return;
  context.setDeterministicCuDNN(plan.deterministic);
  context.setBenchmarkCuDNN(!plan.deterministic);
  context.setDeterministicAlgorithms(plan.deterministic, /*warn_only=*/true);
  context.setFloat32MatmulPrecision(plan.precision == Precision::kTF32 ? "high" : "highest");
}

std::string instruction_set() { return at::get_cpu_capability(); }

}  // namespace assay::torch_engine

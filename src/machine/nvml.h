// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA GPUs through NVML, loaded at run time: Assay builds and runs without it. Declarations
// follow NVIDIA's "NVML API Reference"; the functions used have kept their form since driver 450.
// Starting NVML takes from 10 ms to about a second a machine; a query some 10 us (power and energy
// up to a millisecond). Thread-safe, as NVML is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace assay {

// The functions of NVML that are used, so that tests can give their own. Each returns NVML's
// status, 0 for success. A member may be empty: an old driver lacks it.
struct NvmlFunctions {
  using Gpu = void*;
  struct Memory {
    unsigned long long total, free, used;
  };
  struct Rates {
    unsigned gpu, memory;  // per cent
  };
  struct Pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
  };
  std::function<int()> init;
  std::function<int()> shutdown;
  std::function<const char*(int)> error_string;
  std::function<int(char*, unsigned)> driver_version;
  std::function<int(int*)> cuda_version;
  std::function<int(unsigned*)> device_count;
  std::function<int(unsigned, Gpu*)> device;
  std::function<int(Gpu, char*, unsigned)> name;
  std::function<int(Gpu, char*, unsigned)> uuid;
  std::function<int(Gpu, Memory*)> memory;
  std::function<int(Gpu, int, unsigned*)> max_clock_mhz;  // 1: multiprocessors, 2: memory
  std::function<int(Gpu, int, unsigned*)> clock_mhz;
  std::function<int(Gpu, unsigned*)> power_limit_mw;
  std::function<int(Gpu, Pci*)> pci;
  std::function<int(Gpu, int*, int*)> compute_capability;
  std::function<int(Gpu, int*, int*)> ecc;            // current, pending
  std::function<int(Gpu, unsigned*, unsigned*)> mig;  // current, pending
  std::function<int(Gpu, unsigned long long*)> energy_mj;
  std::function<int(Gpu, Rates*)> utilisation;
};

// kNotFound when there is no such library.
Result<NvmlFunctions> load_nvml(const std::string& library = "libnvidia-ml.so.1");

// What one GPU says of itself; an error's message is the reason why a value is unknown.
struct GpuDescription {
  Result<std::string> name;
  Result<std::string> uuid;
  Result<std::string> pci_bus_id;
  Result<int64_t> memory_bytes;
  Result<std::string> compute_capability;  // "9.0"
  Result<int64_t> max_clock_hz;
  Result<int64_t> max_memory_clock_hz;
  Result<int64_t> power_limit_milliwatts;
  Result<bool> ecc;
  Result<bool> mig;
};

struct GpuActivity {
  Result<double> busy;  // share of the last sampling period in which a kernel ran, 0 to 1
  Result<int64_t> memory_used_bytes;
  Result<int64_t> clock_hz;
};

// A started NVML. Copies share it; the last one shuts it down.
class Nvml {
 public:
  // kNotFound without the library or GPUs, kIo when the driver refuses.
  static Result<Nvml> start(Result<NvmlFunctions> functions = load_nvml());

  int gpu_count() const;
  Result<std::string> driver_version() const;
  Result<std::string> cuda_version() const;  // the newest that the driver can run: "13.2"
  GpuDescription describe(int gpu) const;
  GpuActivity activity(int gpu) const;
  // Since the driver was loaded. Volta and newer.
  Result<double> energy_joules(int gpu) const;

 private:
  struct Session;
  explicit Nvml(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::shared_ptr<Session> session_;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// NVML as a driver with some GPUs would answer; every answer can be changed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "machine/nvml.h"

namespace assay {

struct FakeDriver {
  unsigned gpus = 1;
  int init_status = 0;
  int sessions = 0;  // started and not shut down
  std::vector<unsigned long long> energy_mj{0, 0, 0, 0};
};

// The functions outlive no driver: keep it as long as an Nvml.
inline NvmlFunctions fake_nvml(FakeDriver& driver) {
  const auto text = [](char* target, unsigned size, const char* value) {
    std::snprintf(target, size, "%s", value);
    return 0;
  };
  const auto index = [](NvmlFunctions::Gpu gpu) { return reinterpret_cast<uintptr_t>(gpu) - 1; };
  NvmlFunctions f;
  f.init = [&driver] {
    if (driver.init_status == 0) ++driver.sessions;
    return driver.init_status;
  };
  f.shutdown = [&driver] {
    --driver.sessions;
    return 0;
  };
  f.error_string = [](int status) { return status == 3 ? "Not Supported" : "Driver Not Loaded"; };
  f.driver_version = [text](char* t, unsigned n) { return text(t, n, "580.65"); };
  f.cuda_version = [](int* version) {
    *version = 13020;
    return 0;
  };
  f.device_count = [&driver](unsigned* count) {
    *count = driver.gpus;
    return 0;
  };
  f.device = [](unsigned i, NvmlFunctions::Gpu* gpu) {
    *gpu = reinterpret_cast<NvmlFunctions::Gpu>(uintptr_t{i} + 1);
    return 0;
  };
  f.name = [text](NvmlFunctions::Gpu, char* t, unsigned n) { return text(t, n, "Test GPU"); };
  f.memory = [](NvmlFunctions::Gpu, NvmlFunctions::Memory* memory) {
    *memory = {1ULL << 34, 0, 1ULL << 30};
    return 0;
  };
  f.compute_capability = [](NvmlFunctions::Gpu, int* major, int* minor) {
    *major = 9;
    *minor = 0;
    return 0;
  };
  f.max_clock_mhz = [](NvmlFunctions::Gpu, int kind, unsigned* mhz) {
    *mhz = kind == 1 ? 1980 : 3201;
    return 0;
  };
  f.power_limit_mw = [](NvmlFunctions::Gpu, unsigned* mw) {
    *mw = 700500;
    return 0;
  };
  f.pci = [text](NvmlFunctions::Gpu, NvmlFunctions::Pci* pci) {
    return text(pci->bus_id, sizeof pci->bus_id, "00000000:1B:00.0");
  };
  f.ecc = [](NvmlFunctions::Gpu, int*, int*) { return 3; };  // not supported
  f.energy_mj = [&driver, index](NvmlFunctions::Gpu gpu, unsigned long long* mj) {
    *mj = driver.energy_mj[index(gpu)];
    return 0;
  };
  f.utilisation = [](NvmlFunctions::Gpu, NvmlFunctions::Rates* rates) {
    *rates = {75, 10};
    return 0;
  };
  return f;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml.h"

#include <dlfcn.h>

#include <utility>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr int kMultiprocessorClock = 1;
constexpr int kMemoryClock = 2;
constexpr size_t kTextSize = 96;  // NVML's longest: NVML_DEVICE_NAME_V2_BUFFER_SIZE

template <class Signature>
void find(void* library, const char* name, std::function<Signature>& function) {
  if (void* symbol = ::dlsym(library, name)) function = reinterpret_cast<Signature*>(symbol);
}

}  // namespace

Result<NvmlFunctions> load_nvml(const std::string& library) {
  // Never unloaded: NVML leaves threads and handlers behind.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{ErrorCode::kNotFound, fmt::format("no NVIDIA driver ({} is absent)", library)};
  }
  NvmlFunctions f;
  find(handle, "nvmlInit_v2", f.init);
  find(handle, "nvmlShutdown", f.shutdown);
  find(handle, "nvmlErrorString", f.error_string);
  find(handle, "nvmlSystemGetDriverVersion", f.driver_version);
  find(handle, "nvmlSystemGetCudaDriverVersion_v2", f.cuda_version);
  find(handle, "nvmlDeviceGetCount_v2", f.device_count);
  find(handle, "nvmlDeviceGetHandleByIndex_v2", f.device);
  find(handle, "nvmlDeviceGetName", f.name);
  find(handle, "nvmlDeviceGetUUID", f.uuid);
  find(handle, "nvmlDeviceGetMemoryInfo", f.memory);
  find(handle, "nvmlDeviceGetMaxClockInfo", f.max_clock_mhz);
  find(handle, "nvmlDeviceGetClockInfo", f.clock_mhz);
  find(handle, "nvmlDeviceGetPowerManagementLimit", f.power_limit_mw);
  find(handle, "nvmlDeviceGetPciInfo_v3", f.pci);
  find(handle, "nvmlDeviceGetCudaComputeCapability", f.compute_capability);
  find(handle, "nvmlDeviceGetEccMode", f.ecc);
  find(handle, "nvmlDeviceGetMigMode", f.mig);
  find(handle, "nvmlDeviceGetTotalEnergyConsumption", f.energy_mj);
  find(handle, "nvmlDeviceGetUtilizationRates", f.utilisation);
  return f;
}

struct Nvml::Session {
  NvmlFunctions nvml;
  std::vector<NvmlFunctions::Gpu> gpus;

  explicit Session(NvmlFunctions functions) : nvml(std::move(functions)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (nvml.shutdown) nvml.shutdown();
  }

  Error failed(int status) const {
    const char* text = nvml.error_string ? nvml.error_string(status) : nullptr;
    return Error{ErrorCode::kIo, text != nullptr ? fmt::format("NVML: {}", text)
                                                 : fmt::format("NVML status {}", status)};
  }

  // Calls an optional function; what it returns through `read` is the value.
  template <class Function, class Read, class... Arguments>
  auto query(const Function& function, Read read, Arguments... arguments) const
      -> Result<decltype(read())> {
    if (!function) return Error{ErrorCode::kUnsupported, "the driver is too old to say"};
    const int status = function(arguments...);
    if (status != 0) return failed(status);
    return read();
  }

  NvmlFunctions::Gpu gpu(int index) const { return gpus[static_cast<size_t>(index)]; }
};

Result<Nvml> Nvml::start(Result<NvmlFunctions> functions) {
  if (!functions.ok()) return std::move(functions).error();
  if (!functions->init || !functions->device_count || !functions->device) {
    return Error{ErrorCode::kUnsupported, "the NVIDIA driver is too old"};
  }
  const int started = functions->init();
  if (started != 0) {
    const char* text = functions->error_string ? functions->error_string(started) : "";
    return Error{ErrorCode::kIo, fmt::format("NVML does not start: {} ({})", text, started)};
  }
  auto session = std::make_shared<Session>(std::move(functions).value());  // shuts down from here
  unsigned count = 0;
  const int status = session->nvml.device_count(&count);
  if (status != 0) return session->failed(status);
  for (unsigned i = 0; i < count; ++i) {
    NvmlFunctions::Gpu gpu = nullptr;
    const int found = session->nvml.device(i, &gpu);
    if (found != 0) return session->failed(found);
    session->gpus.push_back(gpu);
  }
  if (count == 0) return Error{ErrorCode::kNotFound, "the NVIDIA driver sees no GPU"};
  return Nvml(std::move(session));
}

int Nvml::gpu_count() const { return static_cast<int>(session_->gpus.size()); }

Result<std::string> Nvml::driver_version() const {
  char text[kTextSize] = {};
  return session_->query(
      session_->nvml.driver_version, [&] { return std::string(text); }, text, unsigned{kTextSize});
}

Result<std::string> Nvml::cuda_version() const {
  int version = 0;
  return session_->query(
      session_->nvml.cuda_version,
      [&] { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }, &version);
}

GpuDescription Nvml::describe(int gpu) const {
  const Session& s = *session_;
  const NvmlFunctions& f = s.nvml;
  const NvmlFunctions::Gpu g = s.gpu(gpu);
  char name[kTextSize] = {};
  char uuid[kTextSize] = {};
  NvmlFunctions::Pci pci{};
  NvmlFunctions::Memory memory{};
  int major = 0;
  int minor = 0;
  unsigned clock = 0;
  unsigned memory_clock = 0;
  unsigned limit = 0;
  int ecc = 0;
  int ecc_pending = 0;
  unsigned mig = 0;
  unsigned mig_pending = 0;
  const auto hertz = [](unsigned megahertz) { return int64_t{megahertz} * 1000000; };
  return {
      s.query(
          f.name, [&] { return std::string(name); }, g, name, unsigned{kTextSize}),
      s.query(
          f.uuid, [&] { return std::string(uuid); }, g, uuid, unsigned{kTextSize}),
      s.query(
          f.pci, [&] { return std::string(pci.bus_id); }, g, &pci),
      s.query(
          f.memory, [&] { return static_cast<int64_t>(memory.total); }, g, &memory),
      s.query(
          f.compute_capability, [&] { return fmt::format("{}.{}", major, minor); }, g, &major,
          &minor),
      s.query(
          f.max_clock_mhz, [&] { return hertz(clock); }, g, kMultiprocessorClock, &clock),
      s.query(
          f.max_clock_mhz, [&] { return hertz(memory_clock); }, g, kMemoryClock, &memory_clock),
      s.query(
          f.power_limit_mw, [&] { return int64_t{limit}; }, g, &limit),
      s.query(
          f.ecc, [&] { return ecc != 0; }, g, &ecc, &ecc_pending),
      s.query(
          f.mig, [&] { return mig != 0; }, g, &mig, &mig_pending),
  };
}

GpuActivity Nvml::activity(int gpu) const {
  const Session& s = *session_;
  const NvmlFunctions& f = s.nvml;
  const NvmlFunctions::Gpu g = s.gpu(gpu);
  NvmlFunctions::Rates rates{};
  NvmlFunctions::Memory memory{};
  unsigned clock = 0;
  return {
      s.query(
          f.utilisation, [&] { return rates.gpu / 100.0; }, g, &rates),
      s.query(
          f.memory, [&] { return static_cast<int64_t>(memory.used); }, g, &memory),
      s.query(
          f.clock_mhz, [&] { return int64_t{clock} * 1000000; }, g, kMultiprocessorClock, &clock)};
}

Result<double> Nvml::energy_joules(int gpu) const {
  unsigned long long millijoules = 0;
  return session_->query(
      session_->nvml.energy_mj, [&] { return static_cast<double>(millijoules) / 1000; },
      session_->gpu(gpu), &millijoules);
}

}  // namespace assay

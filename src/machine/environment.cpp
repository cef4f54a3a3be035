// SPDX-License-Identifier: Apache-2.0
#include "machine/environment.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "machine/cgroup.h"
#include "machine/cpu.h"
#include "machine/facts.h"
#include "machine/software.h"
#include "machine/topology.h"
#include "machine/version.h"

namespace assay {
namespace {

Json cache_json(const CacheLevel& cache) {
  Facts facts;
  facts.put("level", cache.level);
  facts.put("type", cache.type);
  facts.put("size_bytes", cache.size.count);
  if (cache.line_bytes > 0) {
    facts.put("line_bytes", cache.line_bytes);
  } else {
    facts.put_missing("line_bytes", "the kernel does not say");
  }
  if (cache.ways > 0) {
    facts.put("ways", cache.ways);
  } else {
    facts.put_missing("ways", cache.ways < 0 ? "fully associative" : "the kernel does not say");
  }
  facts.put("shared_by_threads", cache.shared_by);
  facts.put("instances", cache.instances);
  return std::move(facts).take();
}

void put_cpu(Facts& facts, const SystemRoots& roots) {
  const auto text = read_kernel_file(roots.proc / "cpuinfo");
  const CpuModel cpu = parse_cpuinfo(text.ok() ? *text : "");
  facts.put("cpu_model", cpu.model);
  facts.put("cpu_vendor", cpu.vendor);
  facts.put("cpu_family", cpu.family);
  facts.put("cpu_model_number", cpu.model_number);
  facts.put("cpu_stepping", cpu.stepping);
  facts.put("microcode", cpu.microcode);
  if (cpu.isa.empty()) {
    facts.put_missing("isa", "the kernel lists no extensions");
  } else {
    facts.put("isa", Json(cpu.isa));
  }
  const auto hypervisor = hypervisor_name(roots, cpu.hypervisor);
  facts.put("virtualised", !hypervisor.ok() || *hypervisor != "none");
  facts.put("hypervisor", hypervisor);
  facts.put("product", read_kernel_file(roots.sys / "class/dmi/id/product_name"));
}

void put_topology(Facts& facts, const Result<Topology>& topology) {
  if (!topology.ok()) {
    for (const char* field :
         {"sockets", "cores", "hardware_threads", "caches", "numa_nodes", "core_kinds"}) {
      facts.put_missing(field, topology.error().message);
    }
    return;
  }
  facts.put("sockets", topology->sockets);
  facts.put("cores", topology->cores);
  facts.put("hardware_threads", topology->threads);
  Json caches = Json::array();
  for (const CacheLevel& cache : topology->caches) caches.push_back(cache_json(cache));
  if (caches.empty()) {
    facts.put_missing("caches", "the kernel gives no cache sizes; usual in virtual machines");
  } else {
    facts.put("caches", std::move(caches));
  }
  Json nodes = Json::array();
  for (const MemoryNode& node : topology->nodes) {
    nodes.push_back(
        {{"node", node.index}, {"cpus", node.cpus}, {"memory_bytes", node.memory.count}});
  }
  facts.put("numa_nodes", std::move(nodes));
  Json kinds = Json::array();
  for (const CoreKind& kind : topology->kinds) {
    kinds.push_back({{"cpus", kind.cpus}, {"efficiency", kind.efficiency}});
  }
  facts.put("core_kinds", std::move(kinds));
}

void put_frequency(Facts& facts, const SystemRoots& roots) {
  facts.put("smt", simultaneous_multithreading(roots));
  facts.put("governor", frequency_governor(roots));
  facts.put("frequency_driver", frequency_driver(roots));
  const auto range = frequency_range(roots);
  if (range.ok()) {
    facts.put("frequency_min_hz", range->min_hz);
    facts.put("frequency_max_hz", range->max_hz);
  } else {
    facts.put_missing("frequency_min_hz", range.error().message);
    facts.put_missing("frequency_max_hz", range.error().message);
  }
  facts.put("turbo", turbo_enabled(roots));
}

void put_memory(Facts& facts, const SystemRoots& roots, const Result<std::string>& meminfo) {
  const auto kib = [&](const char* name) -> Result<int64_t> {
    if (!meminfo.ok()) return meminfo.error();
    return kib_field_of(*meminfo, name);
  };
  facts.put("memory_bytes", kib("MemTotal"));
  facts.put("swap_bytes", kib("SwapTotal"));
  facts.put("page_bytes", int64_t{::sysconf(_SC_PAGESIZE)});
  facts.put("hugepage_bytes", kib("Hugepagesize"));
  const auto count = [&]() -> Result<int64_t> {
    if (!meminfo.ok()) return meminfo.error();
    ASSAY_ASSIGN(const std::string text, field_of(*meminfo, "HugePages_Total"));
    return parse_int(text);
  };
  facts.put("hugepages", count());
  facts.put("transparent_hugepages", transparent_hugepages(roots));
}

void put_software(Facts& facts, const SystemRoots& roots) {
  facts.put("architecture", architecture());
  facts.put("kernel", kernel_release());
  facts.put("libc", libc_version());
  facts.put("distribution", distribution(roots));
  facts.put("container", container(roots));
  facts.put("aslr", address_randomisation(roots));
  facts.put("cpu_limit_cores", cgroup_cpu_limit(roots));
  facts.put("memory_limit_bytes", cgroup_memory_limit_bytes(roots));
  const auto affinity = cpu_affinity();
  if (affinity.ok()) {
    facts.put("affinity", affinity->cpus);
    facts.put("threads_allowed", affinity->threads);
  } else {
    facts.put_missing("affinity", affinity.error().message);
    facts.put_missing("threads_allowed", affinity.error().message);
  }
  Json variables = Json::object();
  for (const auto& [name, value] : numerical_variables(environ)) variables[name] = value;
  facts.put("variables", std::move(variables));
}

Json gpu_json(const Nvml& nvml, int index) {
  const GpuDescription gpu = nvml.describe(index);
  Facts facts;
  facts.put("device", "cuda:" + std::to_string(index));
  facts.put("name", gpu.name);
  facts.put("uuid", gpu.uuid);
  facts.put("pci_bus_id", gpu.pci_bus_id);
  facts.put("memory_bytes", gpu.memory_bytes);
  facts.put("compute_capability", gpu.compute_capability);
  facts.put("clock_max_hz", gpu.max_clock_hz);
  facts.put("memory_clock_max_hz", gpu.max_memory_clock_hz);
  if (gpu.power_limit_milliwatts.ok()) {
    facts.put("power_limit_watts", static_cast<double>(*gpu.power_limit_milliwatts) / 1000);
  } else {
    facts.put_missing("power_limit_watts", gpu.power_limit_milliwatts.error().message);
  }
  facts.put("ecc", gpu.ecc);
  facts.put("mig", gpu.mig);
  return std::move(facts).take();
}

void put_gpus(Facts& facts, Facts& now, const Result<Nvml>& nvml) {
  if (!nvml.ok()) {
    for (const char* field : {"gpus", "gpu_driver", "gpu_driver_cuda"}) {
      facts.put_missing(field, nvml.error().message);
    }
    now.put_missing("gpu_clocks_hz", nvml.error().message);
    return;
  }
  Json gpus = Json::array();
  Json clocks = Json::array();
  for (int i = 0; i < nvml->gpu_count(); ++i) {
    gpus.push_back(gpu_json(*nvml, i));
    const auto clock = nvml->activity(i).clock_hz;
    clocks.push_back(clock.ok() ? Json(*clock) : Json(nullptr));
  }
  facts.put("gpus", std::move(gpus));
  facts.put("gpu_driver", nvml->driver_version());
  facts.put("gpu_driver_cuda", nvml->cuda_version());
  now.put("gpu_clocks_hz", std::move(clocks));
}

void put_now(Facts& now, const SystemRoots& roots, const Result<std::string>& meminfo) {
  now.put("frequency_hz", frequency_now_hz(roots));
  const auto available = [&]() -> Result<int64_t> {
    if (!meminfo.ok()) return meminfo.error();
    return kib_field_of(*meminfo, "MemAvailable");
  };
  now.put("memory_available_bytes", available());
  const auto load = [&]() -> Result<double> {
    ASSAY_ASSIGN(const std::string text, read_kernel_file(roots.proc / "loadavg"));
    return parse_double(split(text, ' ').front());
  };
  now.put("load_1min", load());
}

Json build_json() {
  const BuildInfo build = build_info();
  Facts facts;
  facts.put("version", std::string(build.version));
  if (build.commit.empty()) {
    facts.put_missing("commit", "not built from a git checkout");
  } else {
    facts.put("commit", std::string(build.commit));
  }
  facts.put("compiler", std::string(build.compiler));
  facts.put("flags", std::string(build.flags));
  facts.put("build_type", std::string(build.build_type));
  facts.put("sanitizers", std::string(build.sanitizers));
  return std::move(facts).take();
}

}  // namespace

Json collect_environment(const EnvironmentSources& sources) {
  const SystemRoots& roots = sources.roots;
  const auto meminfo = read_kernel_file(roots.proc / "meminfo");
  Facts facts;
  Facts now;
  put_cpu(facts, roots);
  put_topology(facts, read_topology(sources.synthetic_topology));
  put_frequency(facts, roots);
  put_memory(facts, roots, meminfo);
  put_software(facts, roots);
  put_gpus(facts, now, Nvml::start(sources.nvml()));
  put_now(now, roots, meminfo);
  facts.put("build", build_json());
  facts.put("now", std::move(now).take());
  return std::move(facts).take();
}

Json collect_environment() { return collect_environment(EnvironmentSources{}); }

std::string environment_id(const Json& environment) {
  Json stable = environment;
  stable.erase("now");
  stable.erase("build");
  return sha256_hex(stable.dump()).substr(0, 16);
}

}  // namespace assay

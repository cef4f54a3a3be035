// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Prefixes of the flags that decide which kernels a library picks. (x86's smep and smap, which
// begin like Arm's sme, are about privileges.)
constexpr std::array<std::string_view, 15> kIsaPrefixes{
    "sse4_2", "avx", "fma",  "f16c", "amx_", "bmi2", "vaes", "gfni",  // x86
    "asimd",  "sve", "i8mm", "bf16", "fphp", "fcma", "sme2"};

bool matters(const std::string& flag) {
  return flag == "sme" ||
         std::any_of(kIsaPrefixes.begin(), kIsaPrefixes.end(),
                     [&](std::string_view prefix) { return flag.starts_with(prefix); });
}

Result<int64_t> int_field(const std::string& text, const std::string& name) {
  ASSAY_ASSIGN(const std::string value, field_of(text, name));
  return parse_int(value);
}

Result<std::string> either_field(const std::string& text, const char* x86, const char* arm) {
  auto value = field_of(text, x86);
  if (value.ok()) return value;
  auto other = field_of(text, arm);
  return other.ok() ? other : value;
}

// The folders cpu0, cpu1 ... in /sys/devices/system/cpu.
std::vector<fs::path> cpu_folders(const SystemRoots& roots) {
  std::vector<fs::path> folders;
  std::error_code failure;
  for (fs::directory_iterator it(roots.sys / "devices/system/cpu", failure), end;
       !failure && it != end; it.increment(failure)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("cpu") && name.size() > 3 &&
        std::all_of(name.begin() + 3, name.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; })) {
      folders.push_back(it->path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Error no_frequency_control() {
  return Error{ErrorCode::kNotFound,
               "no frequency control (cpufreq) in the kernel's files; usual in virtual machines"};
}

// The values of one cpufreq file over all processors that have it.
Result<std::vector<std::string>> cpufreq_values(const SystemRoots& roots, const char* file) {
  std::vector<std::string> values;
  for (const fs::path& cpu : cpu_folders(roots)) {
    auto value = read_kernel_file(cpu / "cpufreq" / file);
    if (value.ok()) values.push_back(std::move(value).value());
  }
  if (values.empty()) return no_frequency_control();
  return values;
}

Result<std::string> common_value(const SystemRoots& roots, const char* file) {
  ASSAY_ASSIGN(const std::vector<std::string> values, cpufreq_values(roots, file));
  std::map<std::string, int> counts;
  for (const std::string& value : values) ++counts[value];
  if (counts.size() == 1) return counts.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [value, count] : counts) parts.push_back(fmt::format("{} {}", value, count));
  return "mixed: " + join(parts, ", ");
}

Result<std::vector<int64_t>> cpufreq_hz(const SystemRoots& roots, const char* file) {
  ASSAY_ASSIGN(const std::vector<std::string> values, cpufreq_values(roots, file));
  std::vector<int64_t> hz;
  for (const std::string& value : values) {
    ASSAY_ASSIGN(const int64_t khz, parse_int(trim(value)));
    hz.push_back(khz * 1000);
  }
  return hz;
}

// CPUID leaf 0x40000000: twelve letters of the hypervisor's vendor.
std::string cpuid_hypervisor() {
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned words[3] = {0, 0, 0};
  __cpuid(0x40000000, eax, words[0], words[1], words[2]);
  char vendor[13] = {};
  std::memcpy(vendor, words, 12);
  return vendor;
#else
  return "";
#endif
}

}  // namespace

CpuModel parse_cpuinfo(const std::string& text) {
  const std::string first = text.substr(0, text.find("\n\n"));
  CpuModel cpu{either_field(first, "model name", "CPU part"),
               either_field(first, "vendor_id", "CPU implementer"),
               int_field(first, "cpu family"),
               int_field(first, "model"),
               int_field(first, "stepping"),
               field_of(first, "microcode"),
               {},
               false};
  const auto flags = either_field(first, "flags", "Features");
  if (!flags.ok()) return cpu;
  for (const std::string& flag : split(*flags, ' ')) {
    if (matters(flag)) cpu.isa.push_back(flag);
    if (flag == "hypervisor") cpu.hypervisor = true;
  }
  std::sort(cpu.isa.begin(), cpu.isa.end());
  return cpu;
}

Result<std::string> frequency_governor(const SystemRoots& roots) {
  return common_value(roots, "scaling_governor");
}

Result<std::string> frequency_driver(const SystemRoots& roots) {
  return common_value(roots, "scaling_driver");
}

Result<FrequencyRange> frequency_range(const SystemRoots& roots) {
  ASSAY_ASSIGN(const std::vector<int64_t> low, cpufreq_hz(roots, "cpuinfo_min_freq"));
  ASSAY_ASSIGN(const std::vector<int64_t> high, cpufreq_hz(roots, "cpuinfo_max_freq"));
  return FrequencyRange{*std::min_element(low.begin(), low.end()),
                        *std::max_element(high.begin(), high.end())};
}

Result<int64_t> frequency_now_hz(const SystemRoots& roots) {
  double sum = 0;
  int64_t count = 0;
  const auto governed = cpufreq_hz(roots, "scaling_cur_freq");
  if (governed.ok()) {
    for (const int64_t hz : *governed) sum += static_cast<double>(hz);
    count = static_cast<int64_t>(governed->size());
  } else {
    ASSAY_ASSIGN(const std::string text, read_kernel_file(roots.proc / "cpuinfo"));
    for (const std::string& line : split(text, '\n')) {
      if (!line.starts_with("cpu MHz")) continue;
      const auto mhz = parse_double(trim(line.substr(line.find(':') + 1)));
      if (!mhz.ok()) continue;
      sum += *mhz * 1e6;
      ++count;
    }
  }
  if (count == 0) return no_frequency_control();
  return std::llround(sum / static_cast<double>(count));
}

Result<bool> turbo_enabled(const SystemRoots& roots) {
  const fs::path cpu = roots.sys / "devices/system/cpu";
  const auto no_turbo = read_kernel_int(cpu / "intel_pstate/no_turbo");
  if (no_turbo.ok()) return *no_turbo == 0;
  const auto boost = read_kernel_int(cpu / "cpufreq/boost");
  if (boost.ok()) return *boost != 0;
  return no_frequency_control();
}

Result<std::string> simultaneous_multithreading(const SystemRoots& roots) {
  return read_kernel_file(roots.sys / "devices/system/cpu/smt/control");
}

Result<std::string> hypervisor_name(const SystemRoots& roots, bool hypervisor_flag) {
  const auto type = read_kernel_file(roots.sys / "hypervisor/type");
  if (type.ok() && *type == "xen") return std::string("Xen");
  if (!hypervisor_flag) return std::string("none");
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kKnown{
      {{"KVMKVMKVM", "KVM"},
       {"VMwareVMware", "VMware"},
       {"Microsoft Hv", "Hyper-V"},
       {"XenVMMXenVMM", "Xen"},
       {"TCGTCGTCGTCG", "QEMU"},
       {"bhyve bhyve ", "bhyve"}}};
  const std::string vendor = cpuid_hypervisor();
  for (const auto& [letters, name] : kKnown) {
    if (vendor == letters) return std::string(name);
  }
  if (vendor.empty()) return Error{ErrorCode::kNotFound, "the hypervisor does not give its name"};
  return vendor;
}

}  // namespace assay

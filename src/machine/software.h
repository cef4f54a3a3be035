// SPDX-License-Identifier: Apache-2.0
//
// The software around a run: kernel, libraries, container, memory settings, variables.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "machine/system_roots.h"

namespace assay {

Result<std::string> kernel_release();                        // "6.1.0-18-amd64"
Result<std::string> architecture();                          // "x86_64"
Result<std::string> libc_version();                          // "glibc 2.36"
Result<std::string> distribution(const SystemRoots& roots);  // PRETTY_NAME of os-release
// "docker", "podman", "kubernetes", "lxc", "systemd-nspawn" ...; "none" outside.
std::string container(const SystemRoots& roots);
// "always", "madvise" or "never".
Result<std::string> transparent_hugepages(const SystemRoots& roots);
// "off", "partial" or "full" (kernel.randomize_va_space 0, 1, 2).
Result<std::string> address_randomisation(const SystemRoots& roots);
// The hardware threads this process may run on: "0-3,8", and their number.
struct Affinity {
  std::string cpus;
  int threads = 0;
};
Result<Affinity> cpu_affinity();
// The variables that change how numerical libraries run (OMP_*, MKL_*, LD_PRELOAD ...), sorted.
std::map<std::string, std::string> numerical_variables(const char* const* environment);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The reader of workloads/*.toml: any bytes give a workload or an error, and what is read is in
// range.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/workload.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto workload = assay::parse_workload(text, "fuzz");
  if (!workload.ok()) {
    if (workload.error().message.empty()) std::abort();
    return 0;
  }
  for (const assay::WorkloadVariant& variant : workload->variants) {
    if (variant.recipe.batch < 1 || !(variant.recipe.epochs > 0)) std::abort();
  }
  return 0;
}

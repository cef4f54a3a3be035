// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes, parse_npy gives an error or a tensor that is written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto tensor = assay::parse_npy(input, "fuzz");
  if (!tensor.ok()) return 0;
  const std::string bytes = assay::npy_bytes(*tensor);
  const auto again = assay::parse_npy(bytes, "again");
  if (!again.ok() || again->type() != tensor->type()) std::abort();
  return 0;
}

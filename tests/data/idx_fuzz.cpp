// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes, parse_idx returns; what it accepts has as many elements as its shape says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto array = assay::parse_idx(bytes, "fuzz");
  if (!array.ok()) return 0;
  size_t elements = 1;
  for (const int64_t dimension : array->shape) elements *= static_cast<size_t>(dimension);
  if (elements != array->elements.size()) std::abort();
  return 0;
}

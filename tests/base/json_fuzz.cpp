// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes, parse_json returns a document that can be printed and read back, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto result = assay::parse_json(input, "fuzz");
  if (result.ok() && !assay::parse_json(result->dump(), "again").ok()) std::abort();
  return 0;
}

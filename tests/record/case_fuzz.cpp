// SPDX-License-Identifier: Apache-2.0
//
// Any bytes either are refused or make a case whose text parses back to it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "record/case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = assay::Case::parse({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok()) return 0;
  const auto again = assay::Case::parse(parsed->text());
  if (!again.ok() || !(*again == *parsed)) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes, gunzip returns a value within the limit or a kCorrupt error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr assay::Bytes kLimit{1 << 20};
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto result = assay::gunzip(input, "fuzz", kLimit);
  if (result.ok() && result->size() > static_cast<size_t>(kLimit.count)) std::abort();
  if (!result.ok() && result.error().code != assay::ErrorCode::kCorrupt) std::abort();
  return 0;
}

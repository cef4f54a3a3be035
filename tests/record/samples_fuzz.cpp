// SPDX-License-Identifier: Apache-2.0
//
// Any bytes either are refused or decode to values that encode and decode to the same bits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "record/samples_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int64_t count = data[0] | data[1] << 8;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto values = assay::decode_samples(bytes, count);
  if (!values.ok()) return 0;
  const auto again = assay::decode_samples(assay::encode_samples(*values), count);
  if (!again.ok() || again->size() != values->size()) std::abort();
  if (count > 0 && std::memcmp(again->data(), values->data(), values->size() * 8) != 0)
    std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Any JSON either is refused or is a record that survives the trip to JSON and back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "record/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = assay::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!json.ok()) return 0;
  const auto record = assay::record_from_json(*json);
  if (!record.ok()) return 0;
  const auto again = assay::record_from_json(to_json(*record));
  if (!again.ok() || to_json(*again).dump() != to_json(*record).dump()) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// The reader of safetensors files: any bytes give tensors or an error; what is read can be written
// and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "train/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = assay::parse_safetensors(bytes, "fuzz");
  if (!file.ok()) return 0;
  const auto again = assay::safetensors_bytes(*file);
  if (!again.ok()) std::abort();
  const auto same = assay::parse_safetensors(*again, "again");
  if (!same.ok() || same->tensors.size() != file->tensors.size()) std::abort();
  return 0;
}

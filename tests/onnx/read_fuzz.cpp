// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes, reading gives an error or a graph whose every shape can be printed, which can
// be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "onnx/read.h"
#include "onnx/write.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto graph = assay::parse_onnx(input, "fuzz");
  if (!graph.ok()) return 0;
  for (const assay::Value& value : graph->values()) (void)value.type.text();
  const auto bytes = assay::onnx_bytes(*graph);
  if (bytes.ok() && !assay::parse_onnx(*bytes, "again").ok()) std::abort();
  return 0;
}

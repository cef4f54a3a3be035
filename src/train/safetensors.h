// SPDX-License-Identifier: Apache-2.0
//
// Safetensors files (huggingface/safetensors, format description of its README): eight bytes of
// header length (little endian), a JSON header, packed little-endian tensors. The reader is strict:
// ranges must cover the data without gaps or overlaps, names are unique, sizes match shapes. Cost:
// one copy of the data.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engine/engine.h"

namespace assay {

struct SafetensorsFile {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;
};

// Names in order; the header is padded so that tensors are aligned to 64 bytes in the file.
// kUnsupported for 4-bit types, which the format does not have.
Result<std::string> safetensors_bytes(const SafetensorsFile& file);

// kCorrupt names what is wrong and the tensor.
Result<SafetensorsFile> parse_safetensors(std::string_view bytes, std::string_view place);

}  // namespace assay

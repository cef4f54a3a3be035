// SPDX-License-Identifier: Apache-2.0
//
// Whatever the bytes, decode_image returns; what it accepts has a pixel for every place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/image_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::Image image;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!assay::decode_image(bytes, "fuzz", image).ok()) return 0;
  const auto pixels = static_cast<size_t>(image.height * image.width * 3);
  if (pixels == 0 || image.pixels.size() != pixels) std::abort();
  return 0;
}

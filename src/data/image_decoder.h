// SPDX-License-Identifier: Apache-2.0
//
// Decodes JPEG (libjpeg-turbo) and PNG (libpng) to 8-bit RGB. ImageNet needs more than plain JPEG:
// some of its files are grey, 22 are CMYK and one is a PNG named .JPEG. Full-size decoding with the
// slow exact inverse DCT, as training frameworks do. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

// Rows from the top, three interleaved channels.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;  // height x width x 3
};

// Decodes into `image`, reusing its memory. Damaged, truncated and oversized (above 2^27 pixels)
// images are kCorrupt, other formats kUnsupported; `place` names the file.
Result<void> decode_image(std::string_view bytes, std::string_view place, Image& image);

}  // namespace assay

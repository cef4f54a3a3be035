// SPDX-License-Identifier: Apache-2.0
//
// Samples as bytes: lossless to the bit (NaN payloads too), small where neighbours are alike.
// Format 1: each double's 64 bits are XORed with those of its predecessor (the first with 0), the
// bytes are regrouped into eight planes (all most significant bytes first), and the planes are
// deflated (zlib, level 6). Typical step times take 3 to 4 bytes a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

inline constexpr int kSamplesFormat = 1;

std::string encode_samples(std::span<const double> values);

// kCorrupt when the bytes are not exactly `count` values. Memory is bounded by the input's size.
Result<std::vector<double>> decode_samples(std::string_view bytes, int64_t count);

}  // namespace assay

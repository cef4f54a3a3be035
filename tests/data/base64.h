// SPDX-License-Identifier: Apache-2.0
//
// Decodes the base64 of golden files, which is known to be well-formed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

inline std::string base64_decoded(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kAlphabet.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return bytes;
}

}  // namespace assay

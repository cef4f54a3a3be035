// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) through libmd.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// Lower-case hexadecimal, 64 characters.
std::string sha256_hex(std::string_view bytes);

}  // namespace assay

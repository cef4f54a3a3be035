// SPDX-License-Identifier: Apache-2.0
//
// IDX, the format of the MNIST family of data sets: two zero bytes, an element type, the number of
// dimensions, big-endian 32-bit sizes, then the elements in row-major order
// (http://yann.lecun.com/exdb/mnist, "the IDX file format"). Only unsigned bytes (type 8) are read:
// all packaged sets are of that type. Pure functions; cost: one copy of the elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace assay {

struct IdxArray {
  std::vector<int64_t> shape;
  std::string elements;  // exactly the product of shape
};

// Elements of one file at most: far above any set of the family, far below what a damaged header
// may claim.
inline constexpr Bytes kIdxLimit{int64_t{1} << 30};

// Plain or gzip-compressed bytes. Anything but a whole, well-formed file is kCorrupt, and says at
// `place` what was expected and what was found.
Result<IdxArray> parse_idx(std::string_view bytes, std::string_view place);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/idx.h"

#include <utility>

#include <fmt/format.h>

#include "base/files.h"

namespace assay {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr uint8_t kUnsignedByte = 0x08;
constexpr int kMaximumRank = 4;

uint8_t byte_at(std::string_view bytes, size_t index) { return static_cast<uint8_t>(bytes[index]); }

uint32_t big_endian_u32(std::string_view bytes, size_t index) {
  return uint32_t{byte_at(bytes, index)} << 24 | uint32_t{byte_at(bytes, index + 1)} << 16 |
         uint32_t{byte_at(bytes, index + 2)} << 8 | uint32_t{byte_at(bytes, index + 3)};
}

Error damaged(std::string message, std::string_view place) {
  return Error{ErrorCode::kCorrupt, "damaged IDX file: " + std::move(message), std::string(place)};
}

// The sizes, whose product is proven to be at most kIdxLimit.
Result<std::vector<int64_t>> parse_shape(std::string_view bytes, int rank, std::string_view place) {
  std::vector<int64_t> shape;
  int64_t product = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t size = big_endian_u32(bytes, kHeaderBytes + 4 * static_cast<size_t>(axis));
    shape.push_back(size);
    if (size == 0) return damaged(fmt::format("dimension {} has size 0", axis), place);
    if (size > kIdxLimit.count / product) {
      return damaged(fmt::format("its sizes [{}] ask for more than {}", fmt::join(shape, ", "),
                                 human_bytes(kIdxLimit)),
                     place);
    }
    product *= size;
  }
  return shape;
}

Result<IdxArray> parse_plain(std::string_view bytes, std::string_view place) {
  if (bytes.size() < kHeaderBytes) {
    return damaged(fmt::format("expected a header of 4 bytes, found {} bytes", bytes.size()),
                   place);
  }
  if (byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0) {
    return damaged(fmt::format("expected it to begin with two zero bytes, found 0x{:02x}{:02x}",
                               byte_at(bytes, 0), byte_at(bytes, 1)),
                   place);
  }
  if (byte_at(bytes, 2) != kUnsignedByte) {
    return damaged(fmt::format("expected element type 0x08 (unsigned byte), found 0x{:02x}",
                               byte_at(bytes, 2)),
                   place);
  }
  const int rank = byte_at(bytes, 3);
  if (rank < 1 || rank > kMaximumRank) {
    return damaged(fmt::format("expected 1 to {} dimensions, found {}", kMaximumRank, rank), place);
  }
  const size_t header = kHeaderBytes + 4 * static_cast<size_t>(rank);
  if (bytes.size() < header) {
    return damaged(
        fmt::format("expected a header of {} bytes for {} dimensions, found {} bytes in all",
                    header, rank, bytes.size()),
        place);
  }
  ASSAY_ASSIGN(std::vector<int64_t> shape, parse_shape(bytes, rank, place));
  size_t elements = 1;
  for (const int64_t size : shape) elements *= static_cast<size_t>(size);
  if (bytes.size() - header != elements) {
    return damaged(fmt::format("expected {} elements for sizes [{}], found {}", elements,
                               fmt::join(shape, ", "), bytes.size() - header),
                   place);
  }
  return IdxArray{std::move(shape), std::string(bytes.substr(header))};
}

}  // namespace

Result<IdxArray> parse_idx(std::string_view bytes, std::string_view place) {
  const bool compressed =
      bytes.size() >= 2 && byte_at(bytes, 0) == 0x1f && byte_at(bytes, 1) == 0x8b;
  if (!compressed) return parse_plain(bytes, place);
  ASSAY_ASSIGN(const std::string plain, gunzip(bytes, place, kIdxLimit));
  return parse_plain(plain, place);
}

}  // namespace assay

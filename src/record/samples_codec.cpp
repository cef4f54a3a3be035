// SPDX-License-Identifier: Apache-2.0
#include "record/samples_codec.h"

#include <zlib.h>

#include <bit>

namespace assay {
namespace {

constexpr size_t kWidth = sizeof(uint64_t);
// Deflate cannot do better than 1032:1, so a larger claim is damage; it bounds what we allocate.
constexpr size_t kMostRatio = 1040;

Error corrupt(const char* message) { return {ErrorCode::kCorrupt, message, "samples"}; }

}  // namespace

std::string encode_samples(std::span<const double> values) {
  const size_t count = values.size();
  std::string planes(count * kWidth, '\0');
  uint64_t previous = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint64_t>(values[i]);
    const uint64_t change = bits ^ previous;
    previous = bits;
    for (size_t plane = 0; plane < kWidth; ++plane) {
      planes[plane * count + i] = static_cast<char>(change >> (8 * (kWidth - 1 - plane)) & 0xff);
    }
  }
  uLongf size = compressBound(planes.size());
  std::string out(size, '\0');
  const int rc = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                           reinterpret_cast<const Bytef*>(planes.data()), planes.size(), 6);
  ASSAY_ASSERT(rc == Z_OK, "zlib refused to compress into a buffer of the size it asked for");
  out.resize(size);
  return out;
}

Result<std::vector<double>> decode_samples(std::string_view bytes, int64_t count) {
  if (count < 0 || static_cast<uint64_t>(count) > bytes.size() * kMostRatio / kWidth + kWidth) {
    return corrupt("their number does not fit their bytes");
  }
  const auto size = static_cast<size_t>(count);
  std::string planes(size * kWidth, '\0');
  uLongf length = planes.size();
  uLong used = bytes.size();
  // zlib wants room even for nothing.
  Bytef nothing = 0;
  Bytef* target = planes.empty() ? &nothing : reinterpret_cast<Bytef*>(planes.data());
  const int rc = uncompress2(target, &length, reinterpret_cast<const Bytef*>(bytes.data()), &used);
  if (rc != Z_OK || length != planes.size() || used != bytes.size()) {
    return corrupt("are damaged");
  }
  std::vector<double> values(size);
  uint64_t previous = 0;
  for (size_t i = 0; i < size; ++i) {
    uint64_t change = 0;
    for (size_t plane = 0; plane < kWidth; ++plane) {
      change = change << 8 | static_cast<unsigned char>(planes[plane * size + i]);
    }
    previous ^= change;
    values[i] = std::bit_cast<double>(previous);
  }
  return values;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/files.h"

namespace assay {
namespace {

// Ends the stream at the end of the scope.
class Inflater {
 public:
  Inflater() : ok_(inflateInit2(&stream_, kGzipWindow) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ok_) inflateEnd(&stream_);
  }
  bool ok() const { return ok_; }
  z_stream& stream() { return stream_; }

 private:
  static constexpr int kGzipWindow = 15 + 16;  // the largest window, gzip header expected
  z_stream stream_{};
  bool ok_;
};

Error corrupt(std::string message, std::string_view place) {
  return {ErrorCode::kCorrupt, std::move(message), std::string(place)};
}

// Feeds zlib, whose counters are 32 bits wide, from a string of any length.
void refill(z_stream& stream, std::string_view& input) {
  if (stream.avail_in > 0) return;
  const size_t piece = std::min<size_t>(input.size(), std::numeric_limits<uInt>::max());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(piece);
  input.remove_prefix(piece);
}

std::string_view rest_of(const z_stream& stream, std::string_view input) {
  return {reinterpret_cast<const char*>(stream.next_in), stream.avail_in + input.size()};
}

}  // namespace

Result<std::string> gunzip(std::string_view compressed, std::string_view place, Bytes limit) {
  if (compressed.size() < 2 || compressed.substr(0, 2) != "\x1f\x8b") {
    return corrupt("not a gzip file", place);
  }
  Inflater inflater;
  if (!inflater.ok()) return Error{ErrorCode::kOutOfMemory, "zlib: no memory", std::string(place)};
  z_stream& stream = inflater.stream();
  std::string_view input = compressed;
  std::string output;
  const auto most = static_cast<size_t>(std::max<int64_t>(limit.count, 0));
  size_t used = 0;
  while (true) {
    refill(stream, input);
    if (used == output.size()) {
      // One byte beyond the limit is room enough to see that it is passed.
      output.resize(std::min(most + 1, std::max<size_t>(2 * output.size(), size_t{1} << 16)));
    }
    const auto room = static_cast<uInt>(std::min<size_t>(output.size() - used, 1U << 30));
    stream.next_out = reinterpret_cast<Bytef*>(output.data() + used);
    stream.avail_out = room;
    const int status = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (used > most) return corrupt("larger than " + human_bytes(limit) + " unpacked", place);
    if (status == Z_STREAM_END) {
      const std::string_view rest = rest_of(stream, input);
      // Members may follow one another (RFC 1952, 2.2); tapes pad with zeros.
      if (rest.find_first_not_of('\0') == std::string_view::npos) break;
      if (rest[0] != '\x1f') return corrupt("text after the end of the gzip data", place);
      inflateReset(&stream);
      continue;
    }
    if (status == Z_BUF_ERROR ||
        (status == Z_OK && stream.avail_in == 0 && input.empty() && stream.avail_out > 0)) {
      return corrupt("truncated gzip data", place);
    }
    if (status == Z_MEM_ERROR) {
      return Error{ErrorCode::kOutOfMemory, "zlib: no memory", std::string(place)};
    }
    if (status != Z_OK) {
      return corrupt(fmt::format("damaged gzip data: {}",
                                 stream.msg != nullptr ? stream.msg : "unknown reason"),
                     place);
    }
  }
  output.resize(used);
  return output;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "train/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/json.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kAlignment = 64;
constexpr uint64_t kLongestHeader = 100'000'000;  // the limit of the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<DType, std::string_view>, 15> kNames = {{
    {DType::kF64, "F64"},
    {DType::kF32, "F32"},
    {DType::kF16, "F16"},
    {DType::kBF16, "BF16"},
    {DType::kI64, "I64"},
    {DType::kU64, "U64"},
    {DType::kI32, "I32"},
    {DType::kU32, "U32"},
    {DType::kI16, "I16"},
    {DType::kU16, "U16"},
    {DType::kI8, "I8"},
    {DType::kU8, "U8"},
    {DType::kBool, "BOOL"},
    {DType::kF8E4M3FN, "F8_E4M3"},
    {DType::kF8E5M2, "F8_E5M2"},
}};

std::optional<std::string_view> file_name_of(DType dtype) {
  for (const auto& [type, name] : kNames) {
    if (type == dtype) return name;
  }
  return std::nullopt;
}

std::optional<DType> dtype_of(std::string_view file_name) {
  for (const auto& [type, name] : kNames) {
    if (name == file_name) return type;
  }
  return std::nullopt;
}

// One entry of the header, checked against its own shape.
struct Entry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class HeaderReader {
 public:
  HeaderReader(std::string_view place) : place_(place) {}  // NOLINT: used in one place

  Error corrupt(const std::string& message) const {
    return Error{ErrorCode::kCorrupt, "not a sound safetensors file: " + message, place_};
  }

  Result<Json> parse(std::string_view text) const {
    // The format forbids duplicate names, a JSON parser does not: the last one would win silently.
    std::vector<std::set<std::string>> names;
    bool unique = true;
    const auto watch = [&](int, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::object_start) names.emplace_back();
      if (event == Json::parse_event_t::object_end) names.pop_back();
      if (event == Json::parse_event_t::key) {
        unique = unique && names.back().insert(value.get<std::string>()).second;
      }
      return true;
    };
    Json json = Json::parse(text.begin(), text.end(), watch, false);
    if (json.is_discarded() || !json.is_object()) {
      return corrupt("the header is not a JSON object");
    }
    if (!unique) return corrupt("a name appears twice");
    return json;
  }

  Result<Entry> entry(const std::string& name, const Json& json, uint64_t data_bytes) const {
    const auto wrong = [&](const std::string& what) {
      return corrupt(what + " of '" + name + "'");
    };
    if (!json.is_object() || json.size() != 3 || !json.contains("dtype") ||
        !json.contains("shape") || !json.contains("data_offsets")) {
      return wrong("unexpected fields");
    }
    Entry entry;
    entry.name = name;
    const auto dtype =
        json["dtype"].is_string() ? dtype_of(json["dtype"].get<std::string>()) : std::nullopt;
    if (!dtype) return wrong("unknown type");
    entry.dtype = *dtype;
    const Json& shape = json["shape"];
    const Json& offsets = json["data_offsets"];
    if (!shape.is_array() || shape.size() > 64) return wrong("bad shape");
    uint64_t bytes = static_cast<uint64_t>(dtype_bits(entry.dtype)) / 8;
    for (const Json& size : shape) {
      if (!size.is_number_unsigned()) return wrong("bad shape");
      const auto value = size.get<uint64_t>();
      if (value != 0 && bytes > data_bytes / value && bytes != 0) return wrong("too large a shape");
      bytes *= value;
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return wrong("too large a shape");
      }
      entry.shape.push_back(static_cast<int64_t>(value));
    }
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      return wrong("bad offsets");
    }
    entry.begin = offsets[0].get<uint64_t>();
    entry.end = offsets[1].get<uint64_t>();
    if (entry.begin > entry.end || entry.end > data_bytes || entry.end - entry.begin != bytes) {
      return wrong("offsets that do not fit the shape");
    }
    return entry;
  }

  // The ranges must tile the data.
  Result<void> tiles(std::vector<Entry>& entries, uint64_t data_bytes) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    uint64_t covered = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != covered) return corrupt("a gap or an overlap before '" + entry.name + "'");
      covered = entry.end;
    }
    if (covered != data_bytes) return corrupt("bytes that belong to no tensor");
    return {};
  }

 private:
  std::string place_;
};

Result<std::map<std::string, std::string>> read_metadata(const HeaderReader& reader,
                                                         const Json& json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) return reader.corrupt("the metadata are not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return reader.corrupt("metadata '" + key + "' is not a text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

Result<std::string> safetensors_bytes(const SafetensorsFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header[std::string(kMetadata)] = file.metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const auto type = file_name_of(tensor.dtype());
    if (!type) {
      return Error{ErrorCode::kUnsupported,
                   "safetensors has no type " + std::string(dtype_name(tensor.dtype())), name};
    }
    const auto bytes = static_cast<uint64_t>(tensor.bytes());
    header[name] = Json{{"dtype", *type},
                        {"shape", tensor.shape()},
                        {"data_offsets", Json::array({offset, offset + bytes})}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((kAlignment - (kLengthBytes + text.size()) % kAlignment) % kAlignment, ' ');
  const uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes.reserve(kLengthBytes + text.size() + offset);
  bytes += text;
  for (const auto& [name, tensor] : file.tensors) {
    bytes.append(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
  }
  return bytes;
}

Result<SafetensorsFile> parse_safetensors(std::string_view bytes, std::string_view place) {
  const HeaderReader reader(place);
  uint64_t length = 0;
  if (bytes.size() < kLengthBytes) return reader.corrupt("shorter than eight bytes");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLongestHeader || length > bytes.size() - kLengthBytes) {
    return reader.corrupt("a header of " + std::to_string(length) + " bytes");
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  if (text.empty() || text.front() != '{') return reader.corrupt("no header");
  ASSAY_ASSIGN(const Json header, reader.parse(text));
  SafetensorsFile file;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == kMetadata) {
      ASSAY_ASSIGN(file.metadata, read_metadata(reader, json));
      continue;
    }
    ASSAY_ASSIGN(Entry entry, reader.entry(name, json, data.size()));
    entries.push_back(std::move(entry));
  }
  ASSAY_TRY(reader.tiles(entries, data.size()));
  for (const Entry& entry : entries) {
    Tensor tensor = Tensor::allocate(entry.dtype, entry.shape);
    if (entry.end > entry.begin) {
      std::memcpy(tensor.data(), data.data() + entry.begin, entry.end - entry.begin);
    }
    file.tensors[entry.name] = std::move(tensor);
  }
  return file;
}

}  // namespace assay

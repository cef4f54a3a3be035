// SPDX-License-Identifier: Apache-2.0
#include "onnx/external_files.h"

#include <algorithm>
#include <system_error>

#include "base/text.h"

namespace assay::onnx {
namespace {

Error outside(std::string_view location) {
  return Error{ErrorCode::kInvalid,
               "external data '" + std::string(location) + "' lies outside the model's folder", ""};
}

Result<uint64_t> number(std::string_view key, std::string_view text) {
  const auto value = parse_uint(text);
  if (value.ok()) return *value;
  return Error{ErrorCode::kInvalid,
               "external data has " + std::string(key) + " '" + std::string(text) + "'", ""};
}

bool is_inside(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const auto [end, ignored] = std::ranges::mismatch(folder, file);
  return end == folder.end();
}

}  // namespace

Result<std::shared_ptr<MappedFile>> ExternalFiles::map(std::string_view location) {
  if (const auto found = mapped_.find(location); found != mapped_.end()) return found->second;
  const std::filesystem::path relative(location);
  if (location.empty() || location.find('\0') != std::string_view::npos) {
    return Error{ErrorCode::kInvalid, "external data names no file", ""};
  }
  if (relative.is_absolute() || std::ranges::find(relative, "..") != relative.end()) {
    return outside(location);
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(folder_, error);
  std::filesystem::path file;
  if (!error) file = std::filesystem::canonical(folder / relative, error);
  if (error) {
    return Error{ErrorCode::kNotFound, "external data '" + std::string(location) + "' is missing",
                 "", "the file belongs beside the model"};
  }
  if (!is_inside(file, folder)) return outside(location);
  if (!std::filesystem::is_regular_file(file, error)) {
    return Error{ErrorCode::kInvalid,
                 "external data '" + std::string(location) + "' is not a regular file", ""};
  }
  ASSAY_ASSIGN(MappedFile mapped, MappedFile::open(file));
  auto shared = std::make_shared<MappedFile>(std::move(mapped));
  mapped_.emplace(std::string(location), shared);
  return shared;
}

Result<ExternalBytes> ExternalFiles::find(
    const std::vector<std::pair<std::string_view, std::string_view>>& entries, int64_t size) {
  std::string_view location;
  uint64_t offset = 0;
  auto length = static_cast<uint64_t>(size);
  for (const auto& [key, value] : entries) {
    if (key == "location") {
      location = value;
    } else if (key == "offset") {
      ASSAY_ASSIGN(offset, number(key, value));
    } else if (key == "length") {
      ASSAY_ASSIGN(length, number(key, value));
    }
  }
  if (length != static_cast<uint64_t>(size)) {
    return Error{ErrorCode::kCorrupt, "external data has " + std::to_string(length) +
                                          " bytes where the tensor needs " + std::to_string(size)};
  }
  ASSAY_ASSIGN(const std::shared_ptr<MappedFile> file, map(location));
  const auto bytes = file->bytes();
  if (offset > bytes.size() || length > bytes.size() - offset) {
    return Error{ErrorCode::kCorrupt, "external data ends at byte " + std::to_string(offset) +
                                          " + " + std::to_string(length) + ", its file '" +
                                          std::string(location) + "' at " +
                                          std::to_string(bytes.size())};
  }
  const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return ExternalBytes{{begin, static_cast<size_t>(length)}, file};
}

}  // namespace assay::onnx

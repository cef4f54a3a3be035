// SPDX-License-Identifier: Apache-2.0
//
// Files: read whole, written whole or not at all, mapped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/units.h"

namespace assay {

Result<std::string> read_file(const std::filesystem::path& path, Bytes limit = {int64_t{1} << 31});

// Writes beside the target, syncs, renames: on any failure the old file is intact and nothing
// partial remains (disk full included).
Result<void> write_file(const std::filesystem::path& path, std::string_view content);

// A read-only memory map. Movable; the span stays valid while the object lives.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Decompresses a gzip stream; damaged or truncated input is kCorrupt, output beyond `limit` too.
Result<std::string> gunzip(std::string_view compressed, std::string_view place, Bytes limit);

// ASSAY_HOME, or ~/.cache/assay. Not created.
std::filesystem::path assay_home();
// The folder of the running executable.
std::filesystem::path executable_folder();
// Where the data files of the project lie (workloads/, studies/, devices/): ASSAY_SHARE, else
// beside the executable's build tree, else the installed share folder.
std::filesystem::path share_folder();

}  // namespace assay

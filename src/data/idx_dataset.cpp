// SPDX-License-Identifier: Apache-2.0
#include "data/idx_dataset.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/file.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "data/idx.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSchema = "assay-data/1";

std::string prepare_hint(const IdxDataset& dataset) { return "assay data prepare " + dataset.name; }

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

size_t part_size(const IdxPart& part) {
  size_t size = 1;
  for (const int64_t dimension : part.shape) size *= static_cast<size_t>(dimension);
  return size;
}

Error io_error(std::string_view doing, const fs::path& path, int code) {
  return Error{ErrorCode::kIo, fmt::format("cannot {}: {}", doing, std::strerror(code)),
               path.string(), "set ASSAY_HOME to a folder that can be written"};
}

// Removes the folder when it goes out of scope, unless it was renamed away.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> beside(const fs::path& folder) {
    std::string pattern = folder.string() + ".XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) return io_error("create a folder", pattern, errno);
    return TemporaryFolder(pattern);
  }
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Held while preparing; the kernel drops it if we die.
class FolderLock {
 public:
  static Result<FolderLock> take(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return io_error("create a lock", path, errno);
    while (::flock(file, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int code = errno;
      ::close(file);
      return io_error("lock", path, code);
    }
    return FolderLock(file);
  }
  explicit FolderLock(int file) : file_(file) {}
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

Result<void> check_labels(std::string_view labels, int64_t classes, const std::string& place) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const int label = static_cast<uint8_t>(labels[i]);
    if (label >= classes) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("label {} of item {} is not below {} classes", label, i, classes),
                   place};
    }
  }
  return {};
}

// One source file, checked in every respect.
Result<IdxArray> read_part(const IdxDataset& dataset, size_t index, const fs::path& files) {
  const IdxPart& part = dataset.parts[index];
  const fs::path path = files / part.file;
  ASSAY_ASSIGN(std::string bytes, read_file(path));
  if (bytes.starts_with("\x1f\x8b")) {
    ASSAY_ASSIGN(bytes, gunzip(bytes, path.string(), kIdxLimit));
  }
  ASSAY_ASSIGN(IdxArray array, parse_idx(bytes, path.string()));
  if (array.shape != part.shape) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("expected sizes [{}], found [{}]", fmt::join(part.shape, ", "),
                             fmt::join(array.shape, ", ")),
                 path.string()};
  }
  const std::string found = sha256_hex(bytes);
  if (found != part.sha256) {
    return Error{
        ErrorCode::kCorrupt,
        fmt::format("expected SHA-256 {} of its decompressed bytes, found {}", part.sha256, found),
        path.string()};
  }
  if (index % 2 == 1) {
    ASSAY_TRY(check_labels(array.elements, dataset.classes, path.string()));
  }
  return array;
}

Result<void> write_arrays(const IdxDataset& dataset, const fs::path& files, const fs::path& into) {
  Json manifest = {{"schema", kSchema},
                   {"dataset", dataset.name},
                   {"source", dataset.source},
                   {"license", dataset.license},
                   {"classes", dataset.classes},
                   {"checksum", idx_checksum(dataset)},
                   {"made_by", "assay " ASSAY_VERSION},
                   {"arrays", Json::array()}};
  for (size_t i = 0; i < dataset.parts.size(); ++i) {
    const IdxPart& part = dataset.parts[i];
    auto array = read_part(dataset, i, files);
    if (!array.ok()) {
      Error error = std::move(array).error();
      error.hint = dataset.hint;
      return error;
    }
    ASSAY_TRY(write_file(into / part.array, array->elements));
    manifest["arrays"].push_back({{"file", part.array},
                                  {"shape", part.shape},
                                  {"sha256", sha256_hex(array->elements)},
                                  {"source_file", part.file},
                                  {"source_sha256", part.sha256}});
  }
  return write_file(into / "manifest.json", manifest.dump(2) + "\n");
}

Error damaged(const IdxDataset& dataset, std::string message, const fs::path& place) {
  return Error{ErrorCode::kCorrupt,
               fmt::format("the prepared data set {} is damaged: {}", dataset.name, message),
               place.string(), prepare_hint(dataset)};
}

// The recorded checksum of every array, once the manifest is known to be of this data set.
Result<std::vector<std::string>> read_manifest(const IdxDataset& dataset, const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) {
    return Error{ErrorCode::kNotFound, fmt::format("the data set {} is not prepared", dataset.name),
                 folder.string(), prepare_hint(dataset)};
  }
  const auto text = read_file(path);
  if (!text.ok()) return damaged(dataset, text.error().message, path);
  const auto manifest = parse_json(*text, path.string());
  if (!manifest.ok()) return damaged(dataset, manifest.error().message, path);
  std::vector<std::string> checksums;
  try {
    if (manifest->at("schema") != kSchema) return damaged(dataset, "unknown schema", path);
    if (manifest->at("checksum") != idx_checksum(dataset)) {
      return damaged(dataset, "made from other source files", path);
    }
    for (size_t i = 0; i < dataset.parts.size(); ++i) {
      const Json& array = manifest->at("arrays").at(i);
      if (array.at("file") != dataset.parts[i].array) {
        return damaged(dataset, "unknown array", path);
      }
      checksums.push_back(array.at("sha256").get<std::string>());
    }
  } catch (const Json::exception& error) {
    return damaged(dataset, error.what(), path);
  }
  return checksums;
}

Result<MappedFile> map_part(const IdxDataset& dataset, size_t index, const fs::path& folder) {
  const fs::path path = folder / dataset.parts[index].array;
  auto file = MappedFile::open(path);
  if (!file.ok()) return damaged(dataset, file.error().message, path);
  const size_t expected = part_size(dataset.parts[index]);
  if (file->bytes().size() != expected) {
    return damaged(
        dataset, fmt::format("expected {} bytes, found {}", expected, file->bytes().size()), path);
  }
  return file;
}

Result<void> check_sha256(const IdxDataset& dataset, const MappedFile& file,
                          const std::string& expected, const fs::path& place) {
  if (sha256_hex(as_text(file.bytes())) == expected) return {};
  return damaged(dataset, "its SHA-256 differs from the manifest's", place);
}

}  // namespace

std::string idx_checksum(const IdxDataset& dataset) {
  std::string all = dataset.name;
  for (const IdxPart& part : dataset.parts) all += ":" + part.sha256;
  return sha256_hex(all);
}

Result<void> find_idx_files(const IdxDataset& dataset, const fs::path& files) {
  for (const IdxPart& part : dataset.parts) {
    std::error_code ignored;
    if (fs::is_regular_file(files / part.file, ignored)) continue;
    return Error{
        ErrorCode::kNotFound,
        fmt::format("the data set {} is not installed: {} is missing", dataset.name, part.file),
        files.string(), dataset.hint};
  }
  return {};
}

Result<void> prepare_idx(const IdxDataset& dataset, const fs::path& files, const fs::path& folder) {
  ASSAY_TRY(find_idx_files(dataset, files));
  std::error_code failure;
  fs::create_directories(folder.parent_path(), failure);
  if (failure) return io_error("create a folder", folder.parent_path(), failure.value());
  ASSAY_ASSIGN(const FolderLock lock, FolderLock::take(folder.string() + ".lock"));
  if (verify_idx(dataset, folder).ok()) return {};  // another process was faster
  ASSAY_ASSIGN(const TemporaryFolder made, TemporaryFolder::beside(folder));
  ASSAY_TRY(write_arrays(dataset, files, made.path()));
  fs::permissions(made.path(), fs::perms(0755), failure);
  // A folder cannot replace one that is not empty: the damaged one steps aside first.
  ASSAY_ASSIGN(const TemporaryFolder old, TemporaryFolder::beside(folder));
  if (fs::exists(folder, failure)) fs::rename(folder, old.path() / "old", failure);
  fs::rename(made.path(), folder, failure);
  if (failure) return io_error("rename into place", folder, failure.value());
  return {};
}

Result<ImageSet> open_idx(const IdxDataset& dataset, const fs::path& folder, Split split) {
  ASSAY_ASSIGN(const std::vector<std::string> checksums, read_manifest(dataset, folder));
  const size_t index = split == Split::kTraining ? 0 : 2;
  const fs::path labels_path = folder / dataset.parts[index + 1].array;
  ASSAY_ASSIGN(MappedFile images, map_part(dataset, index, folder));
  ASSAY_ASSIGN(MappedFile labels, map_part(dataset, index + 1, folder));
  ASSAY_TRY(check_sha256(dataset, labels, checksums[index + 1], labels_path));
  ASSAY_TRY(check_labels(as_text(labels.bytes()), dataset.classes, labels_path.string()));

  const std::vector<int64_t>& shape = dataset.parts[index].shape;
  const auto owner =
      std::make_shared<std::pair<MappedFile, MappedFile>>(std::move(images), std::move(labels));
  const auto bytes_of = [](const MappedFile& file) {
    return std::span(reinterpret_cast<const uint8_t*>(file.bytes().data()), file.bytes().size());
  };
  ImageSet set;
  set.count = shape[0];
  set.channels = 1;
  set.height = shape[1];
  set.width = shape[2];
  set.classes = dataset.classes;
  set.pixels = bytes_of(owner->first);
  set.labels = bytes_of(owner->second);
  set.owner = owner;
  return set;
}

Result<void> verify_idx(const IdxDataset& dataset, const fs::path& folder) {
  ASSAY_ASSIGN(const std::vector<std::string> checksums, read_manifest(dataset, folder));
  for (size_t i = 0; i < dataset.parts.size(); ++i) {
    ASSAY_ASSIGN(const MappedFile file, map_part(dataset, i, folder));
    ASSAY_TRY(check_sha256(dataset, file, checksums[i], folder / dataset.parts[i].array));
  }
  return {};
}

}  // namespace assay

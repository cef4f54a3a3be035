// SPDX-License-Identifier: Apache-2.0
#include "data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/hash.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHint =
    "set ASSAY_DATA_IMAGENET to a folder with train/CLASS/*.JPEG and val/CLASS/*.JPEG "
    "(ImageNet is obtained from image-net.org under its own terms), or use --variant small";

bool is_image(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".jpeg" || extension == ".jpg" || extension == ".png";
}

// The sorted names in a folder that `accept` takes.
template <class Accept>
Result<std::vector<std::string>> sorted_names(const fs::path& folder, Accept accept) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    if (accept(*it)) names.push_back(it->path().filename().string());
  }
  if (failure) {
    return Error{ErrorCode::kIo, "cannot list the folder: " + failure.message(), folder.string()};
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<ImageFolder> ImageFolder::open(const fs::path& root, Split split) {
  ImageFolder result;
  result.folder_ = root / (split == Split::kTraining ? "train" : "val");
  std::error_code ignored;
  if (!fs::is_directory(result.folder_, ignored)) {
    return Error{ErrorCode::kNotFound, "no image folder", result.folder_.string(),
                 std::string(kHint)};
  }
  ASSAY_ASSIGN(result.classes_, sorted_names(result.folder_, [](const fs::directory_entry& entry) {
                 return entry.is_directory() && !entry.path().filename().string().starts_with('.');
               }));
  if (result.classes_.empty()) {
    return Error{ErrorCode::kCorrupt, "the image folder holds no class folders",
                 result.folder_.string(), std::string(kHint)};
  }
  for (size_t c = 0; c < result.classes_.size(); ++c) {
    const fs::path folder = result.folder_ / result.classes_[c];
    ASSAY_ASSIGN(std::vector<std::string> files,
                 sorted_names(folder, [](const fs::directory_entry& entry) {
                   return is_image(entry.path());
                 }));
    if (files.empty()) {
      return Error{ErrorCode::kCorrupt, "the class folder holds no .JPEG files", folder.string(),
                   std::string(kHint)};
    }
    for (std::string& file : files) {
      result.items_.push_back({static_cast<int32_t>(c), std::move(file)});
    }
  }
  return result;
}

fs::path ImageFolder::path(int64_t item) const {
  const Item& entry = items_[static_cast<size_t>(item)];
  return folder_ / classes_[static_cast<size_t>(entry.label)] / entry.file;
}

std::string ImageFolder::checksum() const {
  std::string names;
  for (const Item& item : items_) {
    names += classes_[static_cast<size_t>(item.label)];
    names += '/';
    names += item.file;
    names += '\n';
  }
  return sha256_hex(names);
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// ImageFolder: ImageNet's layout, ROOT/train/CLASS/*.JPEG and ROOT/val/CLASS/*.JPEG. A class is a
// folder (for ImageNet a WordNet id such as n01440764), its index the folder's place in sorted
// order; items are ordered by class, then by name, whatever the file system returns. Holds names
// only, about 40 bytes an item; listing 1.3 million files takes seconds. Immutable once opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/image_set.h"

namespace assay {

class ImageFolder {
 public:
  // kNotFound with a hint when the folder is absent, kCorrupt when it holds no class or an empty
  // one.
  static Result<ImageFolder> open(const std::filesystem::path& root, Split split);

  int64_t count() const { return static_cast<int64_t>(items_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  int64_t label(int64_t item) const { return items_[static_cast<size_t>(item)].label; }
  std::filesystem::path path(int64_t item) const;
  // SHA-256 of all class and file names, in order.
  std::string checksum() const;

 private:
  struct Item {
    int32_t label;
    std::string file;
  };
  std::filesystem::path folder_;
  std::vector<std::string> classes_;
  std::vector<Item> items_;
};

}  // namespace assay

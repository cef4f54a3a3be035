// SPDX-License-Identifier: Apache-2.0
//
// IdxDataset: a labelled image set that is distributed as four IDX files and kept, once prepared,
// as four memory-mapped arrays of bytes and a manifest:
//   FOLDER/train-images.u8  train-labels.u8  test-images.u8  test-labels.u8  manifest.json
// Preparing writes a folder beside and renames it, so FOLDER is complete or absent.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/image_set.h"

namespace assay {

struct IdxPart {
  std::string file;    // "train-images-idx3-ubyte.gz"
  std::string array;   // "train-images.u8"
  std::string sha256;  // of the decompressed IDX file
  std::vector<int64_t> shape;
};

struct IdxDataset {
  std::string name;
  std::string source;   // where the files come from, for the manifest
  std::string license;  // SPDX
  std::string hint;     // how to get the files
  int64_t classes = 0;
  std::array<IdxPart, 4> parts;  // training images, labels, evaluation images, labels
};

// One value for all four pinned files: what a digest takes. Needs no data.
std::string idx_checksum(const IdxDataset& dataset);

// kNotFound with the data set's hint when a file of `files` is missing. Reads no file.
Result<void> find_idx_files(const IdxDataset& dataset, const std::filesystem::path& files);

// Reads, checks (shape, SHA-256, labels) and converts the files into `folder`, replacing what is
// there. A second or so for 70,000 images; processes that prepare the same set wait for each other.
Result<void> prepare_idx(const IdxDataset& dataset, const std::filesystem::path& files,
                         const std::filesystem::path& folder);

// Maps a split. The cheap checks only, a millisecond: manifest, sizes, the labels' checksum.
// kNotFound when not prepared, kCorrupt when damaged, both with a hint.
Result<ImageSet> open_idx(const IdxDataset& dataset, const std::filesystem::path& folder,
                          Split split);

// Every byte against the manifest's checksums: some 0.2 s for 50 MB.
Result<void> verify_idx(const IdxDataset& dataset, const std::filesystem::path& folder);

}  // namespace assay

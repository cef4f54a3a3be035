// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "data/fashion_mnist.h"
#include "data/image_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kFashionMnist = "fashion-mnist";
constexpr std::string_view kImageNet = "imagenet";

Bytes folder_size(const fs::path& folder) {
  Bytes size;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) size.count += static_cast<int64_t>(it->file_size(ignored));
  }
  return size;
}

void explain(DatasetStatus& status, DatasetState state, const Error& error) {
  status.state = state;
  status.reason = error.text();
  status.hint = error.hint;
}

DatasetStatus fashion_mnist_status(const DataRoots& roots) {
  const IdxDataset& dataset = fashion_mnist();
  DatasetStatus status;
  status.name = kFashionMnist;
  status.title = "70,000 grey images of clothing, 28 x 28, 10 classes";
  status.source = "Debian package dataset-fashion-mnist";
  status.license = dataset.license;
  status.terms = "MIT licence, (c) 2017 Zalando SE: free to use, copy and redistribute.";
  const fs::path folder = roots.prepared / dataset.name;
  status.path = folder.string();

  for (const Split split : {Split::kTraining, Split::kEvaluation}) {
    const auto set = open_idx(dataset, folder, split);
    if (set.ok()) continue;
    if (set.error().code != ErrorCode::kNotFound) {
      explain(status, DatasetState::kDamaged, set.error());
      return status;
    }
    const auto files = find_idx_files(dataset, roots.fashion_mnist);
    if (files.ok()) {
      explain(status, DatasetState::kNotPrepared, set.error());
    } else {
      explain(status, DatasetState::kMissing, files.error());
    }
    return status;
  }
  status.state = DatasetState::kReady;
  status.size = folder_size(folder);
  return status;
}

// Ready when both splits have at least one class folder: listing them all would take seconds.
DatasetStatus imagenet_status(const DataRoots& roots) {
  DatasetStatus status;
  status.name = kImageNet;
  status.title = "1.28 million photographs, 1,000 classes (ILSVRC 2012)";
  status.source = "image-net.org, after registration; never fetched by Assay";
  status.license = "ImageNet terms of access";
  status.terms = "Non-commercial research and education only; no redistribution.";
  status.path = roots.imagenet.string();
  status.state = DatasetState::kReady;
  for (const char* split : {"train", "val"}) {
    std::error_code failure;
    const fs::directory_iterator it(roots.imagenet / split, failure);
    if (!failure && it != fs::directory_iterator()) continue;
    status.state = DatasetState::kMissing;
    status.reason = fmt::format("no class folders in {}", (roots.imagenet / split).string());
    status.hint =
        "set ASSAY_DATA_IMAGENET to a folder with train/CLASS/*.JPEG and val/CLASS/*.JPEG";
    break;
  }
  return status;
}

}  // namespace

bool is_usable(DatasetState state) {
  return state == DatasetState::kReady || state == DatasetState::kNotPrepared;
}

std::string_view dataset_state_name(DatasetState state) {
  switch (state) {
    case DatasetState::kReady:
      return "ready";
    case DatasetState::kNotPrepared:
      return "not-prepared";
    case DatasetState::kMissing:
      return "missing-package";
    case DatasetState::kDamaged:
      return "damaged";
  }
  ASSAY_ASSERT(false, "unknown state");
}

std::vector<DatasetStatus> DatasetCatalogue::list() const {
  return {fashion_mnist_status(roots_), imagenet_status(roots_)};
}

Result<DatasetStatus> DatasetCatalogue::status(std::string_view name) const {
  if (name == kFashionMnist) return fashion_mnist_status(roots_);
  if (name == kImageNet) return imagenet_status(roots_);
  const std::vector<std::string> names{std::string(kFashionMnist), std::string(kImageNet)};
  const auto nearest = nearest_name(name, names);
  return Error{ErrorCode::kNotFound, fmt::format("unknown data set '{}'", name), "",
               nearest ? fmt::format("did you mean '{}'?", *nearest)
                       : "assay data list shows the data sets"};
}

Result<DatasetStatus> DatasetCatalogue::prepare(std::string_view name) const {
  ASSAY_ASSIGN(DatasetStatus before, status(name));
  if (name == kImageNet) {  // used where it lies: there is nothing to convert
    if (before.state == DatasetState::kReady) return before;
    return Error{ErrorCode::kNotFound, before.reason, before.path, before.hint};
  }
  const IdxDataset& dataset = fashion_mnist();
  const fs::path folder = roots_.prepared / dataset.name;
  if (before.state == DatasetState::kReady && verify_idx(dataset, folder).ok()) return before;
  ASSAY_TRY(prepare_idx(dataset, roots_.fashion_mnist, folder));
  return status(name);
}

Result<std::string> DatasetCatalogue::checksum(std::string_view name) const {
  ASSAY_TRY(status(name));
  if (name == kFashionMnist) return idx_checksum(fashion_mnist());
  ASSAY_ASSIGN(const ImageFolder training, ImageFolder::open(roots_.imagenet, Split::kTraining));
  ASSAY_ASSIGN(const ImageFolder evaluation,
               ImageFolder::open(roots_.imagenet, Split::kEvaluation));
  return sha256_hex(training.checksum() + evaluation.checksum());
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/image_folder_source.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"

namespace assay {
namespace {

constexpr double kSmallestAspect = 3.0 / 4;
constexpr double kLargestAspect = 4.0 / 3;

// What to resize, to which size, and the part of that which is kept.
struct Cut {
  Box from;
  int64_t height;
  int64_t width;
  Box window;
};

Cut central_cut(const Image& image, const ImageGeometry& geometry) {
  const int64_t shorter = std::min(image.height, image.width);
  const int64_t height = geometry.resize * image.height / shorter;
  const int64_t width = geometry.resize * image.width / shorter;
  const auto middle = [](int64_t whole, int64_t part) {
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(whole - part) / 2));
  };
  return {
      {0, 0, image.height, image.width},
      height,
      width,
      {middle(height, geometry.crop), middle(width, geometry.crop), geometry.crop, geometry.crop}};
}

// Interleaved 0..255 to normalised planes.
void write_planes(const std::vector<float>& pixels, int64_t size, bool flip,
                  const Normalisation& normalisation, float* output) {
  for (int64_t c = 0; c < 3; ++c) {
    const float deviation = normalisation.deviation[static_cast<size_t>(c)];
    const float scale = 1 / (255 * deviation);
    const float offset = -normalisation.mean[static_cast<size_t>(c)] / deviation;
    for (int64_t y = 0; y < size; ++y) {
      const float* source = pixels.data() + y * size * 3 + c;
      float* row = output + (c * size + y) * size;
      for (int64_t x = 0; x < size; ++x) {
        row[flip ? size - 1 - x : x] = source[3 * x] * scale + offset;
      }
    }
  }
}

Result<void> check(const ImageGeometry& geometry, const Normalisation& normalisation, int threads) {
  if (geometry.crop < 1 || geometry.resize < geometry.crop) {
    return Error{ErrorCode::kInvalid, fmt::format("cannot crop {} pixels from images of {}",
                                                  geometry.crop, geometry.resize)};
  }
  if (normalisation.mean.size() != 3 || normalisation.deviation.size() != 3) {
    return Error{ErrorCode::kInvalid, "normalisation needs three means and deviations"};
  }
  if (threads < 1) {
    return Error{ErrorCode::kInvalid, fmt::format("{} threads cannot decode images", threads)};
  }
  return {};
}

}  // namespace

Normalisation imagenet_normalisation() {
  return {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
}

Box random_resized_crop(int64_t height, int64_t width, RandomStream& random) {
  const auto area = static_cast<double>(height * width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.08, 1);
    const double aspect =
        std::exp(random.uniform(std::log(kSmallestAspect), std::log(kLargestAspect)));
    const int64_t w = std::lround(std::sqrt(target * aspect));
    const int64_t h = std::lround(std::sqrt(target / aspect));
    if (w < 1 || w > width || h < 1 || h > height) continue;
    const auto top = static_cast<int64_t>(random.below(static_cast<uint64_t>(height - h + 1)));
    const auto left = static_cast<int64_t>(random.below(static_cast<uint64_t>(width - w + 1)));
    return {top, left, h, w};
  }
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  int64_t h = height;
  int64_t w = width;
  if (aspect < kSmallestAspect) h = std::lround(static_cast<double>(w) / kSmallestAspect);
  if (aspect > kLargestAspect) w = std::lround(static_cast<double>(h) * kLargestAspect);
  h = std::clamp<int64_t>(h, 1, height);
  w = std::clamp<int64_t>(w, 1, width);
  return {(height - h) / 2, (width - w) / 2, h, w};
}

ImageFolderSource::ImageFolderSource(ImageFolder folder, EpochOrder order, ImageGeometry geometry,
                                     Normalisation normalisation, int threads)
    : folder_(std::move(folder)),
      order_(std::move(order)),
      geometry_(geometry),
      normalisation_(std::move(normalisation)),
      workers_(static_cast<size_t>(threads)) {}

Result<std::unique_ptr<ImageFolderSource>> ImageFolderSource::training(
    ImageFolder folder, int64_t batch, ImageGeometry geometry, Normalisation normalisation,
    int threads, RandomKey seed) {
  ASSAY_TRY(check(geometry, normalisation, threads));
  ASSAY_ASSIGN(EpochOrder order, EpochOrder::training(folder.count(), batch, seed));
  std::unique_ptr<ImageFolderSource> source(new ImageFolderSource(
      std::move(folder), std::move(order), geometry, std::move(normalisation), threads));
  source->augmentation_ = seed.derive("augmentation");
  return source;
}

Result<std::unique_ptr<ImageFolderSource>> ImageFolderSource::evaluation(
    ImageFolder folder, int64_t batch, ImageGeometry geometry, Normalisation normalisation,
    int threads) {
  ASSAY_TRY(check(geometry, normalisation, threads));
  ASSAY_ASSIGN(EpochOrder order, EpochOrder::evaluation(folder.count(), batch));
  return std::unique_ptr<ImageFolderSource>(new ImageFolderSource(
      std::move(folder), std::move(order), geometry, std::move(normalisation), threads));
}

Result<void> ImageFolderSource::write_image(int32_t item, int64_t epoch, Worker& worker,
                                            float* output) const {
  const std::string path = folder_.path(item).string();
  ASSAY_ASSIGN(const std::string bytes, read_file(path));
  ASSAY_TRY(decode_image(bytes, path, worker.image));
  const int64_t size = geometry_.crop;
  bool flip = false;
  Cut cut;
  if (augmentation_) {
    RandomStream random(
        augmentation_->derive(static_cast<uint64_t>(epoch)).derive(static_cast<uint64_t>(item)));
    cut = {random_resized_crop(worker.image.height, worker.image.width, random),
           size,
           size,
           {0, 0, size, size}};
    flip = random.bernoulli(0.5);
  } else {
    cut = central_cut(worker.image, geometry_);
  }
  write_planes(worker.resampler.resize(worker.image, cut.from, cut.height, cut.width, cut.window),
               size, flip, normalisation_, output);
  return {};
}

Result<void> ImageFolderSource::write_images(std::span<const int32_t> items, int64_t epoch,
                                             float* output) {
  const int64_t image_size = 3 * geometry_.crop * geometry_.crop;
  std::vector<Result<void>> results(items.size());
  std::atomic<size_t> next_item{0};
  const auto work = [&](Worker& worker) {
    for (size_t i = next_item++; i < items.size(); i = next_item++) {
      try {
        results[i] =
            write_image(items[i], epoch, worker, output + static_cast<int64_t>(i) * image_size);
      } catch (const std::bad_alloc&) {  // would end the process when it leaves a thread
        results[i] = Error{ErrorCode::kOutOfMemory, "no memory to decode an image",
                           folder_.path(items[i]).string()};
      }
    }
  };
  // Starting threads costs far less than one image, so they live as long as a batch.
  {
    std::vector<std::jthread> threads;
    for (size_t t = 1; t < std::min(workers_.size(), items.size()); ++t) {
      threads.emplace_back(work, std::ref(workers_[t]));
    }
    work(workers_[0]);
  }
  for (Result<void>& result : results) ASSAY_TRY(std::move(result));
  return {};
}

Result<bool> ImageFolderSource::next(Batch& batch) {
  const std::span<const int32_t> items = order_.items(step_);
  if (items.empty()) return false;
  const auto count = static_cast<int64_t>(items.size());
  reuse_tensor(batch, 0, DType::kF32, {count, 3, geometry_.crop, geometry_.crop});
  reuse_tensor(batch, 1, DType::kI64, {count});
  batch.inputs.resize(2);
  batch.items = count;
  batch.epoch = order_.epoch(step_);
  batch.step = step_;
  const std::span<int64_t> labels = batch.inputs[1].values<int64_t>();
  for (size_t i = 0; i < items.size(); ++i) labels[i] = folder_.label(items[i]);
  ASSAY_TRY(write_images(items, batch.epoch, batch.inputs[0].values<float>().data()));
  ++step_;
  return true;
}

Result<void> ImageFolderSource::skip_to(int64_t step) {
  if (step < 0) return Error{ErrorCode::kInvalid, fmt::format("step {} is negative", step)};
  step_ = step;
  return {};
}

}  // namespace assay

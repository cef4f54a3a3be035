// SPDX-License-Identifier: Apache-2.0
//
// ImageFolderSource: batches of a folder of images, the standard ImageNet way. inputs[0] is f32
// [items, 3, crop, crop], inputs[1] is i64 [items].
//  - Training: a random resized crop (area 0.08 to 1, aspect 3/4 to 4/3, ten tries, then the
//  largest
//    central one; Szegedy et al. 2015 as torchvision does it) and a mirror image with probability
//    1/2. What happens to an item is a pure function of (seed, epoch, item).
//  - Evaluation: the shorter side to `resize`, then the central crop.
// Images of a batch are decoded by `threads` threads: some 5 to 10 ms an image and thread. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/batch.h"
#include "data/epoch_order.h"
#include "data/image_folder.h"
#include "data/image_source.h"
#include "data/resample.h"

namespace assay {

struct ImageGeometry {
  int64_t resize = 256;
  int64_t crop = 224;
};

// Mean and deviation of ImageNet's training pixels, as every published recipe has them.
Normalisation imagenet_normalisation();

// The part of a height x width image that training sees.
Box random_resized_crop(int64_t height, int64_t width, RandomStream& random);

class ImageFolderSource final : public BatchSource {
 public:
  static Result<std::unique_ptr<ImageFolderSource>> training(ImageFolder folder, int64_t batch,
                                                             ImageGeometry geometry,
                                                             Normalisation normalisation,
                                                             int threads, RandomKey seed);
  static Result<std::unique_ptr<ImageFolderSource>> evaluation(ImageFolder folder, int64_t batch,
                                                               ImageGeometry geometry,
                                                               Normalisation normalisation,
                                                               int threads);
  // An image that cannot be read is an error that names its file.
  Result<bool> next(Batch& batch) override;
  Result<void> skip_to(int64_t step) override;
  int64_t steps_per_epoch() const { return order_.steps_per_epoch(); }

 private:
  // What a decoding thread keeps from image to image.
  struct Worker {
    Image image;
    Resampler resampler;
  };
  ImageFolderSource(ImageFolder folder, EpochOrder order, ImageGeometry geometry,
                    Normalisation normalisation, int threads);
  Result<void> write_image(int32_t item, int64_t epoch, Worker& worker, float* output) const;
  Result<void> write_images(std::span<const int32_t> items, int64_t epoch, float* output);

  ImageFolder folder_;
  EpochOrder order_;
  ImageGeometry geometry_;
  Normalisation normalisation_;
  std::optional<RandomKey> augmentation_;  // training only
  std::vector<Worker> workers_;
  int64_t step_ = 0;
};

}  // namespace assay

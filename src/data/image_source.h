// SPDX-License-Identifier: Apache-2.0
//
// ImageSource: batches of an ImageSet: inputs[0] is f32 [items, channels, height, width],
// inputs[1] is i64 [items]. Training batches are shuffled and augmented (EpochOrder); what happens
// to an item is a pure function of (seed, epoch, item), so neither batch size nor order nor threads
// change it. Cost: one pass over the batch's pixels; nothing is allocated once the batch has its
// tensors. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/batch.h"
#include "data/epoch_order.h"
#include "data/image_set.h"

namespace assay {

// Pixels become (value / 255 - mean) / deviation, one mean and deviation a channel.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;
};

struct Augmentation {
  double flip_probability = 0;  // mirrored left to right
  int64_t crop_padding = 0;  // zero pixels added on each side before a random crop of the old size
};

class ImageSource final : public BatchSource {
 public:
  // kInvalid when the batch does not fit, the normalisation has not one value a channel, or the
  // augmentation is out of range.
  static Result<std::unique_ptr<ImageSource>> training(ImageSet images, int64_t batch,
                                                       Normalisation normalisation,
                                                       Augmentation augmentation, RandomKey seed);
  static Result<std::unique_ptr<ImageSource>> evaluation(ImageSet images, int64_t batch,
                                                         Normalisation normalisation);

  Result<bool> next(Batch& batch) override;
  Result<void> skip_to(int64_t step) override;
  int64_t steps_per_epoch() const { return order_.steps_per_epoch(); }

 private:
  ImageSource(ImageSet images, EpochOrder order, const Normalisation& normalisation,
              Augmentation augmentation, RandomKey seed);
  void write_image(int32_t item, RandomKey epoch_key, float* output) const;
  void write_whole(const uint8_t* image, float* output) const;
  void write_shifted(const uint8_t* image, int64_t down, int64_t right, float* output) const;

  ImageSet images_;
  EpochOrder order_;
  Augmentation augmentation_;
  RandomKey seed_;
  std::vector<float> scale_;  // per channel: output = pixel * scale + offset
  std::vector<float> offset_;
  int64_t step_ = 0;
};

// Makes batch.inputs[index] a tensor of this type and shape, keeping it when it is one already.
void reuse_tensor(Batch& batch, size_t index, DType dtype, const std::vector<int64_t>& shape);

}  // namespace assay

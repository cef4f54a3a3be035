// SPDX-License-Identifier: Apache-2.0
#include "data/image_source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace assay {
namespace {

Result<void> check(const ImageSet& images, const Normalisation& normalisation,
                   const Augmentation& augmentation) {
  const auto channels = static_cast<size_t>(images.channels);
  if (normalisation.mean.size() != channels || normalisation.deviation.size() != channels) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("normalisation needs {} means and deviations, got {} and {}", channels,
                             normalisation.mean.size(), normalisation.deviation.size())};
  }
  if (!std::all_of(normalisation.deviation.begin(), normalisation.deviation.end(),
                   [](float d) { return d > 0; })) {
    return Error{ErrorCode::kInvalid, "a deviation of the normalisation is not positive"};
  }
  if (!(augmentation.flip_probability >= 0 && augmentation.flip_probability <= 1)) {
    return Error{ErrorCode::kInvalid, fmt::format("the flip probability {} is not between 0 and 1",
                                                  augmentation.flip_probability)};
  }
  const int64_t smaller = std::min(images.height, images.width);
  if (augmentation.crop_padding < 0 || augmentation.crop_padding >= smaller) {
    return Error{ErrorCode::kInvalid, fmt::format("the crop padding {} is not between 0 and {}",
                                                  augmentation.crop_padding, smaller - 1)};
  }
  return {};
}

// A number below `bound` from 32 random bits; the bias, below bound / 2^32, does not matter here.
int64_t scaled(uint32_t bits, int64_t bound) {
  return static_cast<int64_t>(static_cast<uint64_t>(bits) * static_cast<uint64_t>(bound) >> 32);
}

struct Draw {
  bool flip;
  int64_t down;  // of the crop, in the unpadded image: -padding ... padding
  int64_t right;
};

Draw draw(const Augmentation& augmentation, RandomKey epoch_key, int32_t item) {
  const auto bits = philox4x32(epoch_key.value(), {static_cast<uint32_t>(item), 0, 0, 0});
  const int64_t places = 2 * augmentation.crop_padding + 1;
  return {bits[0] * 0x1p-32 < augmentation.flip_probability,
          scaled(bits[1], places) - augmentation.crop_padding,
          scaled(bits[2], places) - augmentation.crop_padding};
}

void normalise(const uint8_t* pixels, int64_t count, float scale, float offset, float* output) {
  for (int64_t i = 0; i < count; ++i) output[i] = static_cast<float>(pixels[i]) * scale + offset;
}

}  // namespace

void reuse_tensor(Batch& batch, size_t index, DType dtype, const std::vector<int64_t>& shape) {
  if (batch.inputs.size() <= index) batch.inputs.resize(index + 1);
  Tensor& tensor = batch.inputs[index];
  if (tensor.empty() || tensor.dtype() != dtype || tensor.shape() != shape) {
    tensor = Tensor::allocate(dtype, shape);
  }
}

ImageSource::ImageSource(ImageSet images, EpochOrder order, const Normalisation& normalisation,
                         Augmentation augmentation, RandomKey seed)
    : images_(std::move(images)),
      order_(std::move(order)),
      augmentation_(augmentation),
      seed_(seed.derive("augmentation")) {
  for (size_t c = 0; c < normalisation.mean.size(); ++c) {
    scale_.push_back(1 / (255 * normalisation.deviation[c]));
    offset_.push_back(-normalisation.mean[c] / normalisation.deviation[c]);
  }
}

Result<std::unique_ptr<ImageSource>> ImageSource::training(ImageSet images, int64_t batch,
                                                           Normalisation normalisation,
                                                           Augmentation augmentation,
                                                           RandomKey seed) {
  ASSAY_TRY(check(images, normalisation, augmentation));
  ASSAY_ASSIGN(EpochOrder order, EpochOrder::training(images.count, batch, seed));
  return std::unique_ptr<ImageSource>(
      new ImageSource(std::move(images), std::move(order), normalisation, augmentation, seed));
}

Result<std::unique_ptr<ImageSource>> ImageSource::evaluation(ImageSet images, int64_t batch,
                                                             Normalisation normalisation) {
  ASSAY_TRY(check(images, normalisation, {}));
  ASSAY_ASSIGN(EpochOrder order, EpochOrder::evaluation(images.count, batch));
  return std::unique_ptr<ImageSource>(
      new ImageSource(std::move(images), std::move(order), normalisation, {}, RandomKey(0)));
}

void ImageSource::write_image(int32_t item, RandomKey epoch_key, float* output) const {
  const int64_t height = images_.height;
  const int64_t width = images_.width;
  const uint8_t* image = images_.pixels.data() + item * images_.image_bytes();
  const Draw place = draw(augmentation_, epoch_key, item);
  if (place.down == 0 && place.right == 0) {
    write_whole(image, output);
  } else {
    write_shifted(image, place.down, place.right, output);
  }
  if (!place.flip) return;
  for (int64_t row = 0; row < images_.channels * height; ++row) {
    std::reverse(output + row * width, output + (row + 1) * width);
  }
}

void ImageSource::write_whole(const uint8_t* image, float* output) const {
  const int64_t plane = images_.height * images_.width;
  for (int64_t c = 0; c < images_.channels; ++c) {
    normalise(image + c * plane, plane, scale_[static_cast<size_t>(c)],
              offset_[static_cast<size_t>(c)], output + c * plane);
  }
}

void ImageSource::write_shifted(const uint8_t* image, int64_t down, int64_t right,
                                float* output) const {
  const int64_t height = images_.height;
  const int64_t width = images_.width;
  // Columns [first, last) of the output lie inside the image, the rest is padding.
  const int64_t first = std::max<int64_t>(0, -right);
  const int64_t last = std::min(width, width - right);
  for (int64_t c = 0; c < images_.channels; ++c) {
    const float scale = scale_[static_cast<size_t>(c)];
    const float offset = offset_[static_cast<size_t>(c)];
    for (int64_t y = 0; y < height; ++y) {
      float* row = output + (c * height + y) * width;
      const int64_t source_y = y + down;
      if (source_y < 0 || source_y >= height) {
        std::fill(row, row + width, offset);
        continue;
      }
      const uint8_t* source = image + (c * height + source_y) * width;
      std::fill(row, row + first, offset);
      normalise(source + first + right, last - first, scale, offset, row + first);
      std::fill(row + last, row + width, offset);
    }
  }
}

Result<bool> ImageSource::next(Batch& batch) {
  const std::span<const int32_t> items = order_.items(step_);
  if (items.empty()) return false;
  const auto count = static_cast<int64_t>(items.size());
  reuse_tensor(batch, 0, DType::kF32, {count, images_.channels, images_.height, images_.width});
  reuse_tensor(batch, 1, DType::kI64, {count});
  batch.inputs.resize(2);
  batch.items = count;
  batch.epoch = order_.epoch(step_);
  batch.step = step_++;

  const RandomKey epoch_key = seed_.derive(static_cast<uint64_t>(batch.epoch));
  float* output = batch.inputs[0].values<float>().data();
  const std::span<int64_t> labels = batch.inputs[1].values<int64_t>();
  for (size_t i = 0; i < items.size(); ++i) {
    labels[i] = images_.labels[static_cast<size_t>(items[i])];
    write_image(items[i], epoch_key, output + static_cast<int64_t>(i) * images_.image_bytes());
  }
  return true;
}

Result<void> ImageSource::skip_to(int64_t step) {
  if (step < 0) return Error{ErrorCode::kInvalid, fmt::format("step {} is negative", step)};
  step_ = step;
  return {};
}

}  // namespace assay

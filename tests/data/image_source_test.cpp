// SPDX-License-Identifier: Apache-2.0
#include "data/image_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

const Normalisation kIdentity{{0}, {1.0F / 255}};  // pixels come out as they are

// `count` images of channels x height x width whose pixels are 1, 2, 3 ...; label = item % 3.
ImageSet counting_images(int64_t count, int64_t channels, int64_t height, int64_t width) {
  struct Memory {
    std::vector<uint8_t> pixels;
    std::vector<uint8_t> labels;
  };
  auto memory = std::make_shared<Memory>();
  memory->pixels.resize(static_cast<size_t>(count * channels * height * width));
  std::iota(memory->pixels.begin(), memory->pixels.end(), uint8_t{1});
  for (int64_t i = 0; i < count; ++i) memory->labels.push_back(static_cast<uint8_t>(i % 3));
  return {count, channels, height, width, 3, memory->pixels, memory->labels, memory};
}

std::unique_ptr<ImageSource> training(const ImageSet& images, int64_t batch, Augmentation how,
                                      uint64_t seed = 1) {
  auto source = ImageSource::training(images, batch, kIdentity, how, RandomKey(seed));
  EXPECT_TRUE(source.ok());
  return std::move(source).value();
}

std::vector<float> pixels(const Batch& batch) {
  const auto values = batch.inputs[0].values<float>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> labels(const Batch& batch) {
  const auto values = batch.inputs[1].values<int64_t>();
  return {values.begin(), values.end()};
}

TEST(ImageSource, EvaluationGivesEveryItemInOrderAndASmallLastBatch) {
  auto source = ImageSource::evaluation(counting_images(5, 1, 1, 2), 2, kIdentity);
  ASSERT_TRUE(source.ok());
  Batch batch;
  std::vector<float> all;
  std::vector<int64_t> sizes;
  while (*(*source)->next(batch)) {
    sizes.push_back(batch.items);
    EXPECT_EQ(batch.step, static_cast<int64_t>(sizes.size()) - 1);
    for (const float value : pixels(batch)) all.push_back(std::round(value));
  }
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
  EXPECT_THAT(all, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(labels(batch), ElementsAre(4 % 3));
  EXPECT_FALSE(*(*source)->next(batch));
}

TEST(ImageSource, NormalisesEachChannel) {
  const Normalisation normalisation{{0.25F, 0.5F}, {0.5F, 0.125F}};
  auto source = ImageSource::evaluation(counting_images(1, 2, 1, 2), 1, normalisation);
  Batch batch;
  ASSERT_TRUE(*(*source)->next(batch));
  const std::vector<float> found = pixels(batch);
  const float expected[] = {(1 / 255.0F - 0.25F) / 0.5F, (2 / 255.0F - 0.25F) / 0.5F,
                            (3 / 255.0F - 0.5F) / 0.125F, (4 / 255.0F - 0.5F) / 0.125F};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-6F);
}

TEST(ImageSource, TrainingKeepsImagesAndLabelsTogether) {
  auto source = training(counting_images(9, 1, 1, 1), 2, {});
  Batch batch;
  for (int step = 0; step < 12; ++step) {
    ASSERT_TRUE(*source->next(batch));
    for (size_t i = 0; i < 2; ++i) {
      const auto item = std::lround(pixels(batch)[i]) - 1;
      EXPECT_EQ(labels(batch)[i], item % 3);
    }
    EXPECT_EQ(batch.epoch, step / 4);
  }
}

TEST(ImageSource, SameSeedGivesTheSameBatchesBitForBit) {
  const ImageSet images = counting_images(20, 1, 4, 4);
  auto one = training(images, 4, {0.5, 1}, 5);
  auto two = training(images, 4, {0.5, 1}, 5);
  auto other = training(images, 4, {0.5, 1}, 6);
  bool differs = false;
  Batch a;
  Batch b;
  Batch c;
  for (int step = 0; step < 15; ++step) {
    ASSERT_TRUE(*one->next(a) && *two->next(b) && *other->next(c));
    EXPECT_EQ(pixels(a), pixels(b));
    EXPECT_EQ(labels(a), labels(b));
    differs |= pixels(a) != pixels(c);
  }
  EXPECT_TRUE(differs);
}

TEST(ImageSource, SkippingGivesWhatTakingWouldHave) {
  const ImageSet images = counting_images(20, 1, 4, 4);
  auto slow = training(images, 4, {0.5, 1});
  auto quick = training(images, 4, {0.5, 1});
  Batch a;
  for (int step = 0; step <= 13; ++step) ASSERT_TRUE(*slow->next(a));
  ASSERT_TRUE(quick->skip_to(13).ok());
  Batch b;
  ASSERT_TRUE(*quick->next(b));
  EXPECT_EQ(b.step, 13);
  EXPECT_EQ(b.epoch, a.epoch);
  EXPECT_EQ(pixels(a), pixels(b));
  EXPECT_FALSE(quick->skip_to(-1).ok());
}

TEST(ImageSource, AugmentationOfAnItemDoesNotDependOnTheBatchSize) {
  const ImageSet images = counting_images(12, 1, 4, 4);
  // Item by its label and its set of non-padding pixels would be ambiguous: compare by sorted
  // image.
  const auto images_of_epoch = [&](int64_t batch_size) {
    auto source = training(images, batch_size, {0.5, 2});
    std::vector<std::vector<float>> all;
    Batch batch;
    for (int64_t step = 0; step < source->steps_per_epoch(); ++step) {
      EXPECT_TRUE(*source->next(batch));
      const auto values = pixels(batch);
      for (auto it = values.begin(); it != values.end(); it += 16) all.emplace_back(it, it + 16);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(images_of_epoch(1), images_of_epoch(6));
}

TEST(ImageSource, FlipsMirrorRowsAsOftenAsAsked) {
  const ImageSet images = counting_images(1, 1, 2, 3);
  auto source = training(images, 1, {0.25, 0});
  int flips = 0;
  Batch batch;
  for (int step = 0; step < 2000; ++step) {
    ASSERT_TRUE(*source->next(batch));
    const auto values = pixels(batch);
    const bool flipped = values[0] > values[2];
    const float first = flipped ? values[2] : values[0];
    EXPECT_NEAR(first, 1, 1e-4);
    EXPECT_EQ(flipped, values[3] > values[5]);
    flips += flipped;
  }
  EXPECT_NEAR(flips, 500, 97);  // five standard deviations
}

TEST(ImageSource, CropsShiftTheImageAndPadWithZeroPixels) {
  const ImageSet images = counting_images(1, 1, 3, 3);
  auto source = training(images, 1, {0, 1});
  std::map<std::vector<int>, int> shifts;
  Batch batch;
  for (int step = 0; step < 900; ++step) {
    ASSERT_TRUE(*source->next(batch));
    const auto values = pixels(batch);
    // The centre pixel tells the shift: 5 is no shift, then down 3 and right 1 a pixel.
    const int centre = static_cast<int>(std::lround(values[4]));
    const int down = (centre - 1) / 3 - 1;
    const int right = (centre - 1) % 3 - 1;
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 3; ++x) {
        const int sy = y + down;
        const int sx = x + right;
        const bool inside = sy >= 0 && sy < 3 && sx >= 0 && sx < 3;
        EXPECT_NEAR(values[static_cast<size_t>(3 * y + x)], inside ? 3 * sy + sx + 1 : 0, 1e-4);
      }
    }
    ++shifts[{down, right}];
  }
  EXPECT_EQ(shifts.size(), 9U);
  for (const auto& [shift, count] : shifts) EXPECT_NEAR(count, 100, 48);
}

TEST(ImageSource, ReusesTheTensorsOfTheBatch) {
  auto source = training(counting_images(8, 1, 2, 2), 4, {});
  Batch batch;
  ASSERT_TRUE(*source->next(batch));
  const void* images = batch.inputs[0].data();
  const void* truth = batch.inputs[1].data();
  for (int step = 0; step < 5; ++step) ASSERT_TRUE(*source->next(batch));
  EXPECT_EQ(batch.inputs[0].data(), images);
  EXPECT_EQ(batch.inputs[1].data(), truth);
}

TEST(ImageSource, RefusesWhatMakesNoSense) {
  const ImageSet images = counting_images(8, 1, 4, 4);
  const auto refused = [&](int64_t batch, const Normalisation& normalisation, Augmentation how) {
    return !ImageSource::training(images, batch, normalisation, how, RandomKey(1)).ok();
  };
  EXPECT_FALSE(refused(8, kIdentity, {}));
  EXPECT_TRUE(refused(9, kIdentity, {}));
  EXPECT_TRUE(refused(0, kIdentity, {}));
  EXPECT_TRUE(refused(4, {{0, 0}, {1, 1}}, {}));
  EXPECT_TRUE(refused(4, {{0}, {0}}, {}));
  EXPECT_TRUE(refused(4, kIdentity, {1.5, 0}));
  EXPECT_TRUE(refused(4, kIdentity, {std::nan(""), 0}));
  EXPECT_TRUE(refused(4, kIdentity, {0, 4}));
  EXPECT_TRUE(refused(4, kIdentity, {0, -1}));
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "data/base64.h"
#include "data/image_folder_source.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string golden_file(const std::string& name) {
  const Json images = Json::parse(*read_file(ASSAY_SOURCE_DIR "/tests/data/images_golden.json"));
  for (const Json& golden : images) {
    if (golden["name"] == name) return base64_decoded(golden["file"].get<std::string>());
  }
  return "";
}

// Two classes, written out of order, with files that are not images among them.
class ImageFolderTest : public ::testing::Test {
 protected:
  ImageFolderTest() {
    for (const std::string split : {"train", "val"}) {
      folder_.write(split + "/n02/b.JPEG", golden_file("rgb.jpeg"));
      folder_.write(split + "/n01/z.JPEG", golden_file("grey.jpeg"));
      folder_.write(split + "/n02/a.JPEG", golden_file("rgb.png"));  // ImageNet has one such
      folder_.write(split + "/n01/notes.txt", "not an image");
    }
  }
  Result<ImageFolder> open(Split split = Split::kTraining) const {
    return ImageFolder::open(folder_.path(), split);
  }
  std::unique_ptr<ImageFolderSource> training(uint64_t seed, int threads) const {
    auto source = ImageFolderSource::training(*open(), 3, {8, 6}, imagenet_normalisation(), threads,
                                              RandomKey(seed));
    EXPECT_TRUE(source.ok());
    return std::move(source).value();
  }
  static std::vector<float> pixels(const Batch& batch) {
    const auto values = batch.inputs[0].values<float>();
    return {values.begin(), values.end()};
  }
  ScratchFolder folder_;
};

TEST_F(ImageFolderTest, OrdersClassesAndItemsByName) {
  const auto folder = open();
  ASSERT_TRUE(folder.ok()) << folder.error().text();
  EXPECT_THAT(folder->classes(), ElementsAre("n01", "n02"));
  ASSERT_EQ(folder->count(), 3);
  EXPECT_EQ(folder->path(0).filename(), "z.JPEG");
  EXPECT_EQ(folder->path(1).filename(), "a.JPEG");
  EXPECT_EQ(folder->label(0), 0);
  EXPECT_EQ(folder->label(2), 1);
}

TEST_F(ImageFolderTest, ChecksumFollowsTheNames) {
  const std::string before = open()->checksum();
  EXPECT_EQ(open()->checksum(), before);
  folder_.write("train/n02/c.JPEG", "x");
  EXPECT_NE(open()->checksum(), before);
}

TEST_F(ImageFolderTest, SaysWhatIsMissing) {
  const auto absent = ImageFolder::open(folder_.path() / "nowhere", Split::kTraining);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().text(), HasSubstr("nowhere/train"));
  EXPECT_THAT(absent.error().hint, HasSubstr("ASSAY_DATA_IMAGENET"));
  std::filesystem::create_directories(folder_.path() / "empty" / "train");
  EXPECT_FALSE(ImageFolder::open(folder_.path() / "empty", Split::kTraining).ok());
  std::filesystem::create_directories(folder_.path() / "train" / "n03");
  const auto without_files = open();
  ASSERT_FALSE(without_files.ok());
  EXPECT_THAT(without_files.error().text(), HasSubstr("n03"));
}

TEST_F(ImageFolderTest, EvaluationGivesTheCentralCrop) {
  auto source = ImageFolderSource::evaluation(*open(Split::kEvaluation), 2, {8, 6},
                                              imagenet_normalisation(), 2);
  ASSERT_TRUE(source.ok());
  Batch batch;
  ASSERT_TRUE(*(*source)->next(batch));
  EXPECT_THAT(batch.inputs[0].shape(), ElementsAre(2, 3, 6, 6));
  EXPECT_THAT(std::vector<int64_t>(batch.inputs[1].values<int64_t>().begin(),
                                   batch.inputs[1].values<int64_t>().end()),
              ElementsAre(0, 1));
  // The second is the PNG: 13 x 19 becomes 8 x 11; red grows to the right by 255/18 a source pixel.
  const std::vector<float> values = pixels(batch);
  const float left = values[3 * 36 + 2 * 6 + 1] * 0.229F + 0.485F;
  const float right = values[3 * 36 + 2 * 6 + 4] * 0.229F + 0.485F;
  EXPECT_NEAR(right - left, 3 * (19.0F / 11) / 18, 0.01);
  ASSERT_TRUE(*(*source)->next(batch));
  EXPECT_EQ(batch.items, 1);
  EXPECT_FALSE(*(*source)->next(batch));
}

TEST_F(ImageFolderTest, TrainingIsTheSameForAnyNumberOfThreads) {
  auto one = training(4, 1);
  auto three = training(4, 3);
  auto other = training(5, 1);
  bool differs = false;
  for (int step = 0; step < 4; ++step) {
    Batch a;
    Batch b;
    Batch c;
    ASSERT_TRUE(*one->next(a) && *three->next(b) && *other->next(c));
    EXPECT_EQ(pixels(a), pixels(b));
    differs |= pixels(a) != pixels(c);
    EXPECT_EQ(a.epoch, step);
  }
  EXPECT_TRUE(differs);
}

TEST_F(ImageFolderTest, SkippingGivesWhatTakingWouldHave) {
  auto slow = training(4, 1);
  auto quick = training(4, 1);
  Batch a;
  for (int step = 0; step <= 2; ++step) ASSERT_TRUE(*slow->next(a));
  ASSERT_TRUE(quick->skip_to(2).ok());
  Batch b;
  ASSERT_TRUE(*quick->next(b));
  EXPECT_EQ(pixels(a), pixels(b));
}

TEST_F(ImageFolderTest, ADamagedImageIsAnErrorThatNamesIt) {
  folder_.write("train/n02/b.JPEG", golden_file("rgb.jpeg").substr(0, 300));
  auto source = training(4, 2);
  Batch batch;
  const auto more = source->next(batch);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(more.error().text(), HasSubstr("n02/b.JPEG"));
}

TEST(RandomResizedCrop, StaysInsideWithTheAreasAndAspectsAsked) {
  RandomStream random(RandomKey(1));
  double smallest = 1;
  double largest = 0;
  for (int i = 0; i < 2000; ++i) {
    const Box box = random_resized_crop(375, 500, random);
    ASSERT_TRUE(box.top >= 0 && box.left >= 0 && box.top + box.height <= 375 &&
                box.left + box.width <= 500);
    const double area = static_cast<double>(box.height * box.width) / (375 * 500);
    const double aspect = static_cast<double>(box.width) / static_cast<double>(box.height);
    EXPECT_GT(area, 0.078);
    EXPECT_TRUE(aspect > 0.73 && aspect < 1.36) << aspect;
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
  }
  EXPECT_LT(smallest, 0.1);
  EXPECT_GT(largest, 0.8);
}

TEST(RandomResizedCrop, TakesTheCentreOfImagesThatAreFarTooLong) {
  RandomStream random(RandomKey(1));
  const Box wide = random_resized_crop(10, 2000, random);
  EXPECT_EQ(wide.height, 10);
  EXPECT_EQ(wide.width, 13);
  EXPECT_EQ(wide.left, 993);
  const Box dot = random_resized_crop(1, 1, random);
  EXPECT_EQ(dot.height * dot.width, 1);
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.h"

#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "data/fashion_mnist.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

DataRoots roots_in(const ScratchFolder& folder) {
  DataRoots roots;
  roots.prepared = folder.path() / "home" / "data";
  roots.packages = folder.path() / "packages";
  roots.fashion_mnist = roots.packages / "fashion-mnist";
  roots.imagenet = roots.prepared / "imagenet";
  return roots;
}

TEST(DatasetCatalogue, ListsEverySetWithItsTermsWhateverIsThere) {
  const ScratchFolder folder;
  const auto sets = DatasetCatalogue(roots_in(folder)).list();
  ASSERT_EQ(sets.size(), 2U);
  for (const DatasetStatus& set : sets) {
    EXPECT_EQ(set.state, DatasetState::kMissing);
    EXPECT_THAT(set.license, ::testing::Not(IsEmpty()));
    EXPECT_THAT(set.terms, ::testing::Not(IsEmpty()));
    EXPECT_THAT(set.reason, ::testing::Not(IsEmpty()));
    EXPECT_THAT(set.hint, ::testing::Not(IsEmpty()));
    EXPECT_FALSE(set.size.has_value());
  }
  EXPECT_THAT(sets[0].hint, HasSubstr("apt-get install dataset-fashion-mnist"));
}

TEST(DatasetCatalogue, AnUnknownNameGetsTheNearestOne) {
  const ScratchFolder folder;
  const auto status = DatasetCatalogue(roots_in(folder)).status("fashion-mnits");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(status.error().hint, HasSubstr("fashion-mnist"));
  EXPECT_FALSE(DatasetCatalogue(roots_in(folder)).prepare("x").ok());
  EXPECT_FALSE(DatasetCatalogue(roots_in(folder)).checksum("x").ok());
}

TEST(DatasetCatalogue, PreparingAMissingPackageSaysHowToGetIt) {
  const ScratchFolder folder;
  const DatasetCatalogue catalogue(roots_in(folder));
  const auto prepared = catalogue.prepare("fashion-mnist");
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(prepared.error().hint, HasSubstr("dataset-fashion-mnist"));
  const auto imagenet = catalogue.prepare("imagenet");
  ASSERT_FALSE(imagenet.ok());
  EXPECT_THAT(imagenet.error().hint, HasSubstr("ASSAY_DATA_IMAGENET"));
}

TEST(DatasetCatalogue, AnImageFolderIsUsedWhereItLies) {
  const ScratchFolder folder;
  folder.write("home/data/imagenet/train/n01/a.JPEG", "");
  folder.write("home/data/imagenet/val/n01/a.JPEG", "");
  const DatasetCatalogue catalogue(roots_in(folder));
  const auto prepared = catalogue.prepare("imagenet");
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(prepared->state, DatasetState::kReady);
  const auto before = catalogue.checksum("imagenet");
  ASSERT_TRUE(before.ok());
  folder.write("home/data/imagenet/val/n01/b.JPEG", "");
  EXPECT_NE(*catalogue.checksum("imagenet"), *before);
}

TEST(DatasetCatalogue, ChecksumOfPackagedDataNeedsNoData) {
  const ScratchFolder folder;
  const auto checksum = DatasetCatalogue(roots_in(folder)).checksum("fashion-mnist");
  ASSERT_TRUE(checksum.ok());
  EXPECT_EQ(*checksum, idx_checksum(fashion_mnist()));
}

// The real package, where it is installed (`./dev setup` installs it).
TEST(FashionMnist, PreparesFromDebiansPackage) {
  const ScratchFolder folder;
  DataRoots roots = roots_in(folder);
  roots.fashion_mnist = "/usr/share/datasets/fashion-mnist";
  if (!find_idx_files(fashion_mnist(), roots.fashion_mnist).ok()) {
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const DatasetCatalogue catalogue(roots);
  EXPECT_EQ(catalogue.status("fashion-mnist")->state, DatasetState::kNotPrepared);
  const auto prepared = catalogue.prepare("fashion-mnist");
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  EXPECT_EQ(prepared->state, DatasetState::kReady);
  EXPECT_THAT(prepared->reason, IsEmpty());
  EXPECT_GT(prepared->size->count, 70000 * 785);

  const auto training = open_fashion_mnist(roots, Split::kTraining);
  ASSERT_TRUE(training.ok());
  EXPECT_EQ(training->count, 60000);
  EXPECT_EQ(training->width, 28);
  std::vector<int> classes(10, 0);
  for (const uint8_t label : training->labels) ++classes[label];
  for (const int count : classes) EXPECT_EQ(count, 6000);
  double sum = 0;
  for (const uint8_t pixel : training->pixels) sum += pixel;
  EXPECT_NEAR(sum / 255 / 60000 / 784, 0.2860, 1e-4);  // the published mean

  std::filesystem::resize_file(roots.prepared / "fashion-mnist" / "test-labels.u8", 9999);
  const auto damaged = catalogue.status("fashion-mnist");
  EXPECT_EQ(damaged->state, DatasetState::kDamaged);
  EXPECT_EQ(damaged->hint, "assay data prepare fashion-mnist");
}

}  // namespace
}  // namespace assay

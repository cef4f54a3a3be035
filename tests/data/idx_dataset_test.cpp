// SPDX-License-Identifier: Apache-2.0
#include "data/idx_dataset.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "data/idx_bytes.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Three training and two evaluation images of 2 x 2 pixels, packaged and pinned.
class IdxDatasetTest : public ::testing::Test {
 protected:
  IdxDatasetTest() {
    package("train-images.gz", {3, 2, 2}, "abcdefghijkl", 0, "train-images.u8");
    package("train-labels.gz", {3}, std::string("\x00\x01\x02", 3), 1, "train-labels.u8");
    package("test-images.gz", {2, 2, 2}, "mnopqrst", 2, "test-images.u8");
    package("test-labels.gz", {2}, std::string("\x02\x00", 2), 3, "test-labels.u8");
    dataset_.name = "tiny";
    dataset_.source = "a test";
    dataset_.license = "CC0-1.0";
    dataset_.hint = "apt-get install tiny";
    dataset_.classes = 3;
  }

  void package(const std::string& file, const std::vector<uint32_t>& shape,
               const std::string& elements, size_t index, const std::string& array) {
    const std::string plain = idx_bytes(shape, elements);
    folder_.write("package/" + file, gzip_bytes(plain));
    dataset_.parts[index] = {file, array, sha256_hex(plain), {shape.begin(), shape.end()}};
  }

  Result<void> prepare() { return prepare_idx(dataset_, files(), prepared()); }
  fs::path files() const { return folder_.path() / "package"; }
  fs::path prepared() const { return folder_.path() / "data" / "tiny"; }

  void expect_damaged(const std::string& words) {
    const auto set = open_idx(dataset_, prepared(), Split::kTraining);
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(set.error().text(), HasSubstr(words));
    EXPECT_EQ(set.error().hint, "assay data prepare tiny");
    ASSERT_TRUE(prepare().ok());  // and preparing mends it
    EXPECT_TRUE(open_idx(dataset_, prepared(), Split::kTraining).ok());
  }

  ScratchFolder folder_;
  IdxDataset dataset_;
};

TEST_F(IdxDatasetTest, PreparesAndMapsBothSplits) {
  ASSERT_TRUE(prepare().ok());
  const auto training = open_idx(dataset_, prepared(), Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.error().text();
  EXPECT_EQ(training->count, 3);
  EXPECT_EQ(training->channels, 1);
  EXPECT_EQ(training->classes, 3);
  EXPECT_EQ(training->image_bytes(), 4);
  EXPECT_EQ(training->pixels[4], 'e');
  EXPECT_EQ(training->labels[2], 2);
  const auto evaluation = open_idx(dataset_, prepared(), Split::kEvaluation);
  ASSERT_TRUE(evaluation.ok());
  EXPECT_EQ(evaluation->count, 2);
  EXPECT_EQ(evaluation->pixels[0], 'm');
}

TEST_F(IdxDatasetTest, ManifestSaysWhereTheDataComeFrom) {
  ASSERT_TRUE(prepare().ok());
  const Json manifest = Json::parse(*read_file(prepared() / "manifest.json"));
  EXPECT_EQ(manifest["source"], "a test");
  EXPECT_EQ(manifest["license"], "CC0-1.0");
  EXPECT_THAT(manifest["made_by"].get<std::string>(), HasSubstr("assay "));
  EXPECT_EQ(manifest["arrays"].size(), 4U);
  EXPECT_EQ(manifest["arrays"][0]["source_sha256"], dataset_.parts[0].sha256);
}

TEST_F(IdxDatasetTest, LeavesNothingBesideThePreparedFolder) {
  ASSERT_TRUE(prepare().ok());
  ASSERT_TRUE(prepare().ok());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(prepared().parent_path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("tiny", "tiny.lock"));
}

TEST_F(IdxDatasetTest, IsNotPreparedBeforeItIs) {
  const auto set = open_idx(dataset_, prepared(), Split::kTraining);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(set.error().hint, "assay data prepare tiny");
}

TEST_F(IdxDatasetTest, NamesTheMissingFileAndHowToGetIt) {
  fs::remove(files() / "test-images.gz");
  const auto result = prepare();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().text(), HasSubstr("test-images.gz is missing"));
  EXPECT_EQ(result.error().hint, "apt-get install tiny");
}

TEST_F(IdxDatasetTest, RefusesAFileWithAnotherChecksumAndLeavesNothingBehind) {
  folder_.write("package/test-images.gz", gzip_bytes(idx_bytes({2, 2, 2}, "mnopqrsX")));
  const auto result = prepare();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().text(), HasSubstr("expected SHA-256"));
  EXPECT_THAT(result.error().text(), HasSubstr("test-images.gz"));
  EXPECT_FALSE(fs::exists(prepared()));
}

TEST_F(IdxDatasetTest, RefusesAFileOfOtherSizes) {
  folder_.write("package/test-images.gz", gzip_bytes(idx_bytes({2, 4}, "mnopqrst")));
  const auto result = prepare();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().text(), HasSubstr("expected sizes [2, 2, 2], found [2, 4]"));
}

TEST_F(IdxDatasetTest, RefusesATruncatedCompressedFile) {
  const auto whole = read_file(files() / "train-images.gz");
  folder_.write("package/train-images.gz", whole->substr(0, whole->size() - 10));
  const auto result = prepare();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().text(), HasSubstr("train-images.gz"));
}

TEST_F(IdxDatasetTest, RefusesALabelThatIsNoClass) {
  package("train-labels.gz", {3}, std::string("\x00\x03\x02", 3), 1, "train-labels.u8");
  const auto result = prepare();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().text(), HasSubstr("label 3 of item 1 is not below 3 classes"));
}

TEST_F(IdxDatasetTest, NoticesATruncatedArray) {
  ASSERT_TRUE(prepare().ok());
  fs::resize_file(prepared() / "train-images.u8", 11);
  expect_damaged("expected 12 bytes, found 11");
}

TEST_F(IdxDatasetTest, NoticesAMissingArray) {
  ASSERT_TRUE(prepare().ok());
  fs::remove(prepared() / "train-images.u8");
  expect_damaged("train-images.u8");
}

TEST_F(IdxDatasetTest, NoticesChangedLabels) {
  ASSERT_TRUE(prepare().ok());
  folder_.write("data/tiny/train-labels.u8", std::string("\x00\x02\x02", 3));
  expect_damaged("SHA-256 differs");
}

TEST_F(IdxDatasetTest, NoticesADamagedManifest) {
  ASSERT_TRUE(prepare().ok());
  for (const char* content : {"", "{}", "[1]", R"({"schema": "assay-data/9"})"}) {
    folder_.write("data/tiny/manifest.json", content);
    expect_damaged("manifest.json");
  }
}

TEST_F(IdxDatasetTest, VerifyingFindsAChangedPixel) {
  ASSERT_TRUE(prepare().ok());
  ASSERT_TRUE(verify_idx(dataset_, prepared()).ok());
  folder_.write("data/tiny/train-images.u8", "abcdefghijkX");
  EXPECT_TRUE(open_idx(dataset_, prepared(), Split::kTraining).ok());  // the cheap checks pass
  const auto verified = verify_idx(dataset_, prepared());
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(verified.error().code, ErrorCode::kCorrupt);
  ASSERT_TRUE(prepare().ok());
  EXPECT_TRUE(verify_idx(dataset_, prepared()).ok());
}

TEST_F(IdxDatasetTest, SaysWhenTheHomeCannotBeWritten) {
  folder_.write("data", "a file where the folder should be");
  const auto result = prepare();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
  EXPECT_THAT(result.error().hint, HasSubstr("ASSAY_HOME"));
}

TEST_F(IdxDatasetTest, ChecksumChangesWithAnyPinnedFile) {
  const std::string before = idx_checksum(dataset_);
  EXPECT_EQ(before.size(), 64U);
  dataset_.parts[3].sha256[0] = dataset_.parts[3].sha256[0] == '0' ? '1' : '0';
  EXPECT_NE(idx_checksum(dataset_), before);
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "engine/weights.h"
#include "train/safetensors.h"
#include "train/toy.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("assay_checkpoint_" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

Checkpoint some_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.workload = "toy";
  checkpoint.variant = "small";
  checkpoint.precision = "f32";
  checkpoint.seed = 18446744073709551615ULL;
  checkpoint.digest = "abc";
  checkpoint.step = 40;
  checkpoint.quality = 0.91525;
  checkpoint.code_version = "0.1.0";
  checkpoint.tensors["weight"] =
      Tensor::from<float>(DType::kF32, {2, 2}, std::array<float, 4>{1, 2, 3, 4});
  checkpoint.tensors["optimizer.step"] = Tensor::vector_i64(std::array<int64_t, 1>{40});
  return checkpoint;
}

TEST(Checkpoint, GivesBackWhatWasWritten) {
  const auto folder = fresh_folder("round_trip");
  const auto file = checkpoint_path(folder, "toy", "small", "f32", 3);
  EXPECT_EQ(file.filename(), "toy-small-f32-seed3.safetensors");
  ASSERT_TRUE(write_checkpoint(file, some_checkpoint()).ok());
  const auto read = read_checkpoint(file);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->workload, "toy");
  EXPECT_EQ(read->variant, "small");
  EXPECT_EQ(read->precision, "f32");
  EXPECT_EQ(read->seed, 18446744073709551615ULL);
  EXPECT_EQ(read->digest, "abc");
  EXPECT_EQ(read->step, 40);
  EXPECT_EQ(read->quality, 0.91525);
  EXPECT_EQ(read->tensors.at("optimizer.step").values<int64_t>()[0], 40);
}

TEST(Checkpoint, NamesTheFileThatIsNotThere) {
  const auto read = read_checkpoint("/nowhere/x.safetensors");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read.error().place, "/nowhere/x.safetensors");
  EXPECT_THAT(read.error().hint, HasSubstr("assay train"));
}

TEST(Checkpoint, RefusesOtherFormatVersions) {
  const auto folder = fresh_folder("version");
  const auto file = folder / "x.safetensors";
  ASSERT_TRUE(write_checkpoint(file, some_checkpoint()).ok());
  SafetensorsFile content = parse_safetensors(read_file(file).value(), "f").value();
  content.metadata["assay_checkpoint"] = "2";
  ASSERT_TRUE(write_file(file, safetensors_bytes(content).value()).ok());
  const auto newer = read_checkpoint(file);
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(newer.error().message, HasSubstr("format version is 2, ours is 1"));
  content.metadata.clear();
  ASSERT_TRUE(write_file(file, safetensors_bytes(content).value()).ok());
  EXPECT_THAT(read_checkpoint(file).error().message, HasSubstr("no format version"));
}

TEST(Checkpoint, RefusesDamagedFiles) {
  const auto folder = fresh_folder("damaged");
  const auto file = folder / "x.safetensors";
  ASSERT_TRUE(write_checkpoint(file, some_checkpoint()).ok());
  const std::string bytes = read_file(file).value();
  ASSERT_TRUE(write_file(file, bytes.substr(0, bytes.size() - 3)).ok());
  const auto read = read_checkpoint(file);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

TEST(Checkpoint, SaysWhenItBelongsToSomethingElse) {
  EXPECT_TRUE(check_digest(some_checkpoint(), "abc", "f").ok());
  const auto other = check_digest(some_checkpoint(), "def", "f");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(other.error().message, HasSubstr("abc"));
  EXPECT_THAT(other.error().message, HasSubstr("def"));
}

TEST(Checkpoint, DoesNotFitAnotherNetwork) {
  Checkpoint checkpoint = some_checkpoint();
  EXPECT_TRUE(check_complete(toy::graph(true), checkpoint.tensors).ok());
  checkpoint.tensors["weight"] = Tensor::zeros(DType::kF32, {3, 2});
  const auto wrong = check_complete(toy::graph(true), checkpoint.tensors);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message,
              HasSubstr("'weight' is f32[3, 2], the network wants f32[2, 2]"));
  checkpoint.tensors.erase("weight");
  EXPECT_THAT(check_complete(toy::graph(true), checkpoint.tensors).error().message,
              HasSubstr("'weight' is missing"));
}

TEST(Checkpoint, LeavesNothingBehindWhereItCannotWrite) {
  const auto written = write_checkpoint("/proc/nowhere/x.safetensors", some_checkpoint());
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace assay

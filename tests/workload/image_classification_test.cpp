// SPDX-License-Identifier: Apache-2.0
#include "workload/image_classification.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/fashion_mnist.h"
#include "workload/workload.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

const Workload& shipped() {
  static const Workload workload =
      read_workload(std::string(ASSAY_SOURCE_DIR) + "/workloads/image-classification.toml").value();
  return workload;
}

// Roots below a folder where nothing is.
DataRoots bare_roots(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("assay_task_" + name);
  std::filesystem::remove_all(folder);
  DataRoots roots;
  roots.prepared = folder / "prepared";
  roots.packages = folder / "packages";
  roots.fashion_mnist = "/usr/share/datasets/fashion-mnist";
  roots.imagenet = folder / "imagenet";
  return roots;
}

// A folder of images in ImageNet's layout. The images are never decoded here.
void make_folders(const std::filesystem::path& root, int classes) {
  for (const char* split : {"train", "val"}) {
    for (int i = 0; i < classes; ++i) {
      const auto folder = root / split / ("n" + std::to_string(i));
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "a.JPEG") << "x";
      std::ofstream(folder / "b.JPEG") << "x";
    }
  }
}

Error error_of(const WorkloadVariant& variant, const DataRoots& roots) {
  const auto task = make_task(shipped(), variant, roots);
  EXPECT_FALSE(task.ok());
  return task.ok() ? Error{} : task.error();
}

TEST(ImageClassification, SaysHowToGetDataThatAreMissing) {
  const Error small = error_of(*shipped().variant("small"), bare_roots("no_fashion"));
  EXPECT_EQ(small.code, ErrorCode::kNotFound);
  EXPECT_THAT(small.hint, HasSubstr("assay data prepare fashion-mnist"));
  const DataRoots roots = bare_roots("no_imagenet");
  const Error reference = error_of(*shipped().variant("reference"), roots);
  EXPECT_EQ(reference.code, ErrorCode::kNotFound);
  EXPECT_THAT(reference.place, HasSubstr(roots.imagenet.string()));
  EXPECT_THAT(reference.hint, HasSubstr("ASSAY_DATA_IMAGENET"));
}

TEST(ImageClassification, RefusesANetworkThatDoesNotFitTheData) {
  const DataRoots roots = bare_roots("misfit");
  make_folders(roots.imagenet, 3);
  WorkloadVariant variant = *shipped().variant("reference");
  variant.model_config["classes"] = "4";
  const Error error = error_of(variant, roots);
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("4 classes, the data 3"));
  variant.model_config["classes"] = "3";
  variant.model_config["image"] = "1x32x32";
  EXPECT_THAT(error_of(variant, roots).message, HasSubstr("the images are [batch, 3, 32, 32]"));
}

TEST(ImageClassification, ReadsAnImageNetFolder) {
  const DataRoots roots = bare_roots("imagenet");
  make_folders(roots.imagenet, 3);
  WorkloadVariant variant = *shipped().variant("reference");
  variant.model_config["classes"] = "3";
  variant.model_config["image"] = "3x32x32";
  const auto task = make_task(shipped(), variant, roots);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_EQ((*task)->items().training, 6);
  EXPECT_EQ((*task)->items().evaluation, 6);
  EXPECT_TRUE((*task)->training_batches(2, RandomKey(1)).ok());
  Batch batch;
  const auto unreadable = (*task)->evaluation_batches(2).value()->next(batch);
  ASSERT_FALSE(unreadable.ok());
  EXPECT_THAT(unreadable.error().place, HasSubstr("a.JPEG"));
}

TEST(ImageClassification, RefusesAugmentationThatMakesNoSense) {
  WorkloadVariant variant = *shipped().variant("small");
  for (const char* flip : {"1.5", "-1", "often"}) {
    variant.recipe.extra["augmentation.flip"] = flip;
    EXPECT_EQ(error_of(variant, bare_roots("flip")).place, "augmentation.flip") << flip;
  }
  variant.recipe.extra["augmentation.flip"] = "0.5";
  variant.recipe.extra["augmentation.crop_padding"] = "-2";
  EXPECT_EQ(error_of(variant, bare_roots("crop")).place, "augmentation.crop_padding");
}

TEST(ImageClassification, RefusesUnknownDataSets) {
  WorkloadVariant variant = *shipped().variant("small");
  variant.dataset = "snapshots";
  const Error error = error_of(variant, bare_roots("unknown"));
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.hint, HasSubstr("fashion-mnist"));
}

TEST(ImageClassification, GivesTheBatchesThatItsGraphsTake) {
  const DataRoots roots = bare_roots("fashion");
  if (!find_idx_files(fashion_mnist(), roots.fashion_mnist).ok()) {
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  ASSERT_TRUE(
      prepare_idx(fashion_mnist(), roots.fashion_mnist, roots.prepared / "fashion-mnist").ok());
  const auto task = make_task(shipped(), *shipped().variant("small"), roots);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_EQ((*task)->items().training, 60000);
  EXPECT_EQ((*task)->items().evaluation, 10000);
  Batch batch;
  ASSERT_TRUE((*task)->training_batches(32, RandomKey(1)).value()->next(batch).value());
  EXPECT_EQ(batch.items, 32);
  const Graph& training = (*task)->training_graph();
  ASSERT_EQ(training.inputs().size(), batch.inputs.size());
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    const TensorType& type = training.value(training.inputs()[i]).type;
    EXPECT_EQ(type.dtype, batch.inputs[i].dtype());
    EXPECT_EQ(type.shape->rank(), batch.inputs[i].shape().size());
  }
  EXPECT_EQ((*task)->inference_graph().inputs().size(), 1U);
  // Whole batches first, then what is left of 10,000.
  const auto evaluation = (*task)->evaluation_batches(3000).value();
  int64_t items = 0;
  while (evaluation->next(batch).value()) items += batch.items;
  EXPECT_EQ(items, 10000);
  EXPECT_EQ(batch.items, 1000);
}

TEST(ImageClassification, KeepsTheSameParametersInBothGraphs) {
  const WorkloadVariant& small = *shipped().variant("small");
  const Graph training = variant_graph(small, Phase::kTraining).value();
  const Graph inference = variant_graph(small, Phase::kInference).value();
  ASSERT_EQ(training.parameters().size(), inference.parameters().size());
  for (size_t i = 0; i < training.parameters().size(); ++i) {
    const Value& a = training.value(training.parameters()[i].value);
    const Value& b = inference.value(inference.parameters()[i].value);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type, b.type) << a.name;
  }
}

}  // namespace
}  // namespace assay

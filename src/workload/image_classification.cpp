// SPDX-License-Identifier: Apache-2.0
#include "workload/image_classification.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text.h"
#include "data/fashion_mnist.h"
#include "data/image_folder_source.h"
#include "quality/topk.h"
#include "workload/tasks.h"

namespace assay {
namespace {

constexpr const char* kFlip = "augmentation.flip";
constexpr const char* kCropPadding = "augmentation.crop_padding";

// Mean and deviation of Fashion-MNIST's training pixels.
Normalisation fashion_mnist_normalisation() { return {{0.2860F}, {0.3530F}}; }

// Classical evaluation on ImageNet: the shorter side to 8/7 of the crop (256 for 224).
ImageGeometry geometry_for(int64_t crop) { return {crop * 8 / 7, crop}; }

int decoding_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

TaskEntry image_classification_entry() {
  return {"image-classification",
          {kFlip, kCropPadding},
          {"top1", "top5"},
          &ImageClassificationTask::make};
}

int64_t ImageClassificationTask::Images::classes() const {
  return set ? set->classes : static_cast<int64_t>(folder->classes().size());
}

ImageClassificationTask::ImageClassificationTask(Graph training, Graph inference)
    : training_(std::move(training)), inference_(std::move(inference)) {}

Result<std::unique_ptr<Task>> ImageClassificationTask::make(const Workload& workload,
                                                            const WorkloadVariant& variant,
                                                            const DataRoots& roots) {
  ASSAY_ASSIGN(Graph training, variant_graph(variant, Phase::kTraining));
  ASSAY_ASSIGN(Graph inference, variant_graph(variant, Phase::kInference));
  std::unique_ptr<ImageClassificationTask> task(
      new ImageClassificationTask(std::move(training), std::move(inference)));
  task->k_ = workload.metric == "top5" ? 5 : 1;
  ASSAY_TRY(task->read_recipe(variant.recipe));
  ASSAY_TRY(task->open_data(variant.dataset, roots));
  ASSAY_TRY(task->check_fit());
  return std::unique_ptr<Task>(std::move(task));
}

Result<void> ImageClassificationTask::read_recipe(const Recipe& recipe) {
  if (const auto flip = recipe.extra.find(kFlip); flip != recipe.extra.end()) {
    const Result<double> value = parse_double(flip->second);
    if (!value.ok() || *value < 0 || *value > 1) {
      return Error{ErrorCode::kInvalid, "'" + flip->second + "' is not a probability", kFlip};
    }
    augmentation_.flip_probability = *value;
  }
  if (const auto padding = recipe.extra.find(kCropPadding); padding != recipe.extra.end()) {
    const Result<int64_t> value = parse_int(padding->second);
    if (!value.ok() || *value < 0) {
      return Error{ErrorCode::kInvalid, "'" + padding->second + "' is not a number of pixels",
                   kCropPadding};
    }
    augmentation_.crop_padding = *value;
  }
  return {};
}

Result<void> ImageClassificationTask::open_data(const std::string& dataset,
                                                const DataRoots& roots) {
  if (dataset == "fashion-mnist") {
    ASSAY_ASSIGN(training_images_.set, open_fashion_mnist(roots, Split::kTraining));
    ASSAY_ASSIGN(evaluation_images_.set, open_fashion_mnist(roots, Split::kEvaluation));
    normalisation_ = fashion_mnist_normalisation();
    return {};
  }
  if (dataset == "imagenet") {
    ASSAY_ASSIGN(training_images_.folder, ImageFolder::open(roots.imagenet, Split::kTraining));
    ASSAY_ASSIGN(evaluation_images_.folder, ImageFolder::open(roots.imagenet, Split::kEvaluation));
    normalisation_ = imagenet_normalisation();
    // Its training always takes a random resized crop and mirrors half of the images.
    if (augmentation_.crop_padding != 0 || augmentation_.flip_probability != 0.5) {
      return Error{ErrorCode::kUnsupported,
                   "on imagenet the augmentation is fixed: random resized crop, flip 0.5",
                   "recipe.augmentation"};
    }
    return {};
  }
  return Error{ErrorCode::kInvalid, "image classification cannot read '" + dataset + "'", "dataset",
               "there are fashion-mnist, imagenet"};
}

int64_t ImageClassificationTask::crop() const {
  return (*inference_.value(inference_.inputs()[0]).type.shape)[2].size();
}

Result<void> ImageClassificationTask::check_fit() const {
  const auto misfit = [this](const std::string& what) {
    return Error{ErrorCode::kInvalid, "network and data do not fit: " + what, inference_.name(),
                 "set image and classes in model_config"};
  };
  if (inference_.inputs().size() != 1 || training_.inputs().size() != 2 ||
      inference_.outputs().size() != 1) {
    return misfit("it does not take one image to one set of scores");
  }
  const TensorType& image = inference_.value(inference_.inputs()[0]).type;
  const TensorType& scores = inference_.value(inference_.outputs()[0]).type;
  if (!image.shape || image.shape->rank() != 4 || !scores.shape || scores.shape->rank() != 2) {
    return misfit("image " + image.text() + ", scores " + scores.text());
  }
  const Shape wanted = training_images_.set
                           ? Shape{(*image.shape)[0], training_images_.set->channels,
                                   training_images_.set->height, training_images_.set->width}
                           : Shape{(*image.shape)[0], 3, (*image.shape)[2], (*image.shape)[2]};
  if (*image.shape != wanted) {
    return misfit("the network takes " + image.shape->text() + ", the images are " + wanted.text());
  }
  const int64_t classes = (*scores.shape)[1].size();
  if (classes != training_images_.classes() || classes != evaluation_images_.classes()) {
    return misfit("the network has " + std::to_string(classes) + " classes, the data " +
                  std::to_string(training_images_.classes()));
  }
  return {};
}

TaskItems ImageClassificationTask::items() const {
  return {training_images_.count(), evaluation_images_.count()};
}

Result<std::unique_ptr<BatchSource>> ImageClassificationTask::training_batches(
    int64_t batch, RandomKey seed) const {
  if (training_images_.set) {
    ASSAY_ASSIGN(auto source, ImageSource::training(*training_images_.set, batch, normalisation_,
                                                    augmentation_, seed));
    return std::unique_ptr<BatchSource>(std::move(source));
  }
  ASSAY_ASSIGN(auto source,
               ImageFolderSource::training(*training_images_.folder, batch, geometry_for(crop()),
                                           normalisation_, decoding_threads(), seed));
  return std::unique_ptr<BatchSource>(std::move(source));
}

Result<std::unique_ptr<BatchSource>> ImageClassificationTask::evaluation_batches(
    int64_t batch) const {
  if (evaluation_images_.set) {
    ASSAY_ASSIGN(auto source,
                 ImageSource::evaluation(*evaluation_images_.set, batch, normalisation_));
    return std::unique_ptr<BatchSource>(std::move(source));
  }
  ASSAY_ASSIGN(auto source, ImageFolderSource::evaluation(*evaluation_images_.folder, batch,
                                                          geometry_for(crop()), normalisation_,
                                                          decoding_threads()));
  return std::unique_ptr<BatchSource>(std::move(source));
}

std::unique_ptr<Evaluator> ImageClassificationTask::evaluator() const {
  return std::make_unique<TopKAccuracy>(k_);
}

}  // namespace assay

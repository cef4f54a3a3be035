// SPDX-License-Identifier: Apache-2.0
//
// ImageClassificationTask: images to classes, judged by top-1 or top-5 accuracy. Data sets:
// fashion-mnist (in memory) and imagenet (a folder the user has, decoded on the fly). The network
// is any model of the catalogue that takes images to logits. Immutable; the sources it makes are
// independent of each other.
#pragma once

#include <memory>
#include <optional>

#include "data/data_roots.h"
#include "data/image_folder.h"
#include "data/image_set.h"
#include "data/image_source.h"
#include "workload/workload.h"

namespace assay {

struct TaskEntry;
TaskEntry image_classification_entry();

class ImageClassificationTask final : public Task {
 public:
  // kNotFound with a hint when the data are not there; kInvalid when network and data do not fit.
  static Result<std::unique_ptr<Task>> make(const Workload& workload,
                                            const WorkloadVariant& variant, const DataRoots& roots);

  const Graph& training_graph() const override { return training_; }
  const Graph& inference_graph() const override { return inference_; }
  TaskItems items() const override;
  Result<std::unique_ptr<BatchSource>> training_batches(int64_t batch,
                                                        RandomKey seed) const override;
  Result<std::unique_ptr<BatchSource>> evaluation_batches(int64_t batch) const override;
  std::unique_ptr<Evaluator> evaluator() const override;

 private:
  // One split of the data: in memory, or a folder.
  struct Images {
    std::optional<ImageSet> set;
    std::optional<ImageFolder> folder;
    int64_t count() const { return set ? set->count : folder->count(); }
    int64_t classes() const;
  };

  ImageClassificationTask(Graph training, Graph inference);
  Result<void> read_recipe(const Recipe& recipe);
  Result<void> open_data(const std::string& dataset, const DataRoots& roots);
  Result<void> check_fit() const;
  int64_t crop() const;

  Graph training_;
  Graph inference_;
  Images training_images_;
  Images evaluation_images_;
  Normalisation normalisation_;
  Augmentation augmentation_;
  int64_t k_ = 1;  // of top-k
};

}  // namespace assay

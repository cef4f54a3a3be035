// SPDX-License-Identifier: Apache-2.0
//
// The files of weights beside a model ("external data"): each is mapped once, when first needed.
// Only files inside the model's folder are opened, whatever the model says and wherever symbolic
// links lead. Mapping costs microseconds whatever the size. Not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace assay::onnx {

struct ExternalBytes {
  std::string_view bytes;
  std::shared_ptr<void> owner;
};

class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // What the entries of TensorProto.external_data name; `size` bytes are needed.
  Result<ExternalBytes> find(
      const std::vector<std::pair<std::string_view, std::string_view>>& entries, int64_t size);

 private:
  Result<std::shared_ptr<MappedFile>> map(std::string_view location);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<MappedFile>, std::less<>> mapped_;
};

}  // namespace assay::onnx

// SPDX-License-Identifier: Apache-2.0
#include "data/data_roots.h"

#include <cstdlib>
#include <utility>

#include "base/files.h"

namespace assay {
namespace {

std::filesystem::path path_variable(const char* name, std::filesystem::path fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::filesystem::path(value) : std::move(fallback);
}

}  // namespace

DataRoots DataRoots::from_environment() {
  DataRoots roots;
  roots.prepared = assay_home() / "data";
  roots.packages = "/usr/share/datasets";
  roots.fashion_mnist = path_variable("ASSAY_DATA_FASHION_MNIST", roots.packages / "fashion-mnist");
  roots.imagenet = path_variable("ASSAY_DATA_IMAGENET", roots.prepared / "imagenet");
  return roots;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Where data lie. Passed in, so that tests use folders of their own.
#pragma once

#include <filesystem>

namespace assay {

struct DataRoots {
  std::filesystem::path prepared;       // converted data, one folder a set: ASSAY_HOME/data
  std::filesystem::path packages;       // what Debian's data packages install
  std::filesystem::path fashion_mnist;  // the four .gz files
  std::filesystem::path imagenet;       // train/ and val/

  // ASSAY_HOME/data, /usr/share/datasets; ASSAY_DATA_FASHION_MNIST and ASSAY_DATA_IMAGENET replace
  // the last two, which otherwise lie in the first two.
  static DataRoots from_environment();
};

}  // namespace assay

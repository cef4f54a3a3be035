// SPDX-License-Identifier: Apache-2.0
//
// Fashion-MNIST: 70,000 grey images of clothing, 28 x 28, ten classes (Xiao, Rasul, Vollgraf 2017,
// arXiv:1708.07747; MIT licence), from Debian's package dataset-fashion-mnist.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "data/data_roots.h"
#include "data/idx_dataset.h"
#include "data/image_set.h"

namespace assay {

// With the pinned checksums.
const IdxDataset& fashion_mnist();

// Maps the prepared arrays; kNotFound or kCorrupt with a hint otherwise.
Result<ImageSet> open_fashion_mnist(const DataRoots& roots, Split split);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/fashion_mnist.h"

namespace assay {

const IdxDataset& fashion_mnist() {
  static const IdxDataset dataset{
      "fashion-mnist",
      "Debian package dataset-fashion-mnist, https://github.com/zalandoresearch/fashion-mnist",
      "MIT",
      "apt-get install dataset-fashion-mnist (or ./dev setup), or set ASSAY_DATA_FASHION_MNIST to "
      "a "
      "folder with the four .gz files",
      10,
      {{{"train-images-idx3-ubyte.gz",
         "train-images.u8",
         "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
         {60000, 28, 28}},
        {"train-labels-idx1-ubyte.gz",
         "train-labels.u8",
         "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
         {60000}},
        {"t10k-images-idx3-ubyte.gz",
         "test-images.u8",
         "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
         {10000, 28, 28}},
        {"t10k-labels-idx1-ubyte.gz",
         "test-labels.u8",
         "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
         {10000}}}}};
  return dataset;
}

Result<ImageSet> open_fashion_mnist(const DataRoots& roots, Split split) {
  return open_idx(fashion_mnist(), roots.prepared / fashion_mnist().name, split);
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Shape inference, folding, counting and canonical text of arbitrary nodes.
#include <cstddef>
#include <cstdint>

#include "graph/random_node.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::RandomNodes({data, size}).run();
  return 0;
}

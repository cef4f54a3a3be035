// SPDX-License-Identifier: Apache-2.0
#include "graph/random_node.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace assay {
namespace {

TEST(RandomNodes, AreRefusedOrAcceptedButNeverCrash) {
  RandomStream stream(RandomKey(7));
  size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bytes(600);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(stream.next_u32());
    accepted += RandomNodes(bytes).run();
  }
  EXPECT_GT(accepted, 1000u) << "nodes that are all refused test little";
}

}  // namespace
}  // namespace assay

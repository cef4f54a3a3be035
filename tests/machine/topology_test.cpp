// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Topology, CountsSocketsCoresThreadsAndCaches) {
  const auto topology =
      read_topology("pack:2 numa:1 l3:1(size=32MB) core:4 l2:1(size=1MB) l1d:1(size=49152) pu:2");
  ASSERT_TRUE(topology.ok()) << topology.error().text();
  EXPECT_EQ(topology->sockets, 2);
  EXPECT_EQ(topology->cores, 8);
  EXPECT_EQ(topology->threads, 16);
  ASSERT_EQ(topology->caches.size(), 3U);
  const CacheLevel& first = topology->caches.front();
  EXPECT_EQ(first.level, 1);
  EXPECT_EQ(first.type, "data");
  EXPECT_EQ(first.size.count, 48 * 1024);
  EXPECT_EQ(first.shared_by, 2);
  EXPECT_EQ(first.instances, 8);
  const CacheLevel& last = topology->caches.back();
  EXPECT_EQ(last.level, 3);
  EXPECT_EQ(last.type, "unified");
  EXPECT_EQ(last.shared_by, 8);
  EXPECT_EQ(last.instances, 2);
  EXPECT_TRUE(topology->kinds.empty());
  ASSERT_EQ(topology->nodes.size(), 2U);
  EXPECT_EQ(topology->nodes[1].cpus, "8-15");
}

TEST(Topology, OfThisMachineMakesSense) {
  const auto topology = read_topology();
  ASSERT_TRUE(topology.ok()) << topology.error().text();
  EXPECT_GE(topology->threads, 1);
  EXPECT_GE(topology->threads, topology->cores);
  EXPECT_GE(topology->cores, topology->sockets);
  EXPECT_FALSE(topology->nodes.empty());
}

TEST(Topology, ADescriptionThatMakesNoSenseIsAnError) {
  EXPECT_FALSE(read_topology("no such thing").ok());
}

}  // namespace
}  // namespace assay

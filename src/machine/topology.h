// SPDX-License-Identifier: Apache-2.0
//
// Sockets, cores, hardware threads, caches and memory nodes, from hwloc. Reading takes a few
// milliseconds, so it happens when the environment is asked for, not at start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace assay {

// All caches of one level and type that are alike.
struct CacheLevel {
  int level = 0;
  std::string type;    // "data", "instruction", "unified"
  Bytes size;          // of one instance
  int line_bytes = 0;  // 0: unknown
  int ways = 0;        // 0: unknown; -1: fully associative
  int shared_by = 0;   // hardware threads of one instance
  int instances = 0;
};

struct MemoryNode {
  int index = 0;
  std::string cpus;  // "0-15,32-47"
  Bytes memory;
};

// Cores of one kind on a hybrid processor.
struct CoreKind {
  int efficiency = 0;  // higher is faster; -1: unknown
  std::string cpus;
};

struct Topology {
  int sockets = 0;
  int cores = 0;
  int threads = 0;
  std::vector<CacheLevel> caches;  // from the smallest
  std::vector<MemoryNode> nodes;
  std::vector<CoreKind> kinds;  // empty when all cores are alike
};

// Of this machine; or of hwloc's synthetic description ("pack:2 l3:1 core:4 pu:2") for tests.
Result<Topology> read_topology(const std::string& synthetic = "");

}  // namespace assay

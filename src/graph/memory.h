// SPDX-License-Identifier: Apache-2.0
//
// How much memory a graph needs: which values are alive at which node, and the worst node. A value
// lives from the node that computes it to its last use, outputs and next states to the end; what no
// node computes is there all the time; views have no memory of their own and keep their source
// alive; nothing is done in place. The reference engine takes exactly this (a test compares); an
// engine that works in place needs less. Linear in nodes and values. docs/method/cost.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace assay {

// Bytes by what they are for.
struct MemoryUseByPurpose {
  int64_t parameters = 0;   // trainable and not
  int64_t states = 0;       // batch-norm statistics, moments
  int64_t constants = 0;    // data in the graph
  int64_t inputs = 0;       // and random keys
  int64_t activations = 0;  // computed values
  int64_t workspace = 0;    // what a kernel needs beside its operands

  int64_t resident() const { return parameters + states + constants + inputs; }
  int64_t total() const { return resident() + activations + workspace; }
};

struct MemoryPlan {
  MemoryUseByPurpose peak;       // at the worst node
  uint32_t peak_node = 0;        // its index; 0 in a graph without nodes
  int64_t activation_bytes = 0;  // all computed values together, as if none died; views take none
};

// kUnsupported names the first value whose shape is not known.
Result<MemoryPlan> plan_memory(const Graph& graph);
// As far as shapes are known: values of unknown shape take no memory.
MemoryPlan plan_known_memory(const Graph& graph);

// For each value the one whose memory it uses: itself, or what it is a view of.
std::vector<ValueId> storages(const Graph& graph);

struct BatchFit {
  int64_t batch = 0;  // 0: not even one fits
  MemoryPlan plan;    // of that batch, or of batch 1 where none fits
};

// The largest batch whose plan is at most `bytes`, up to `limit`, where `bound` gives the graph of
// a batch. Larger batches must need no less. Plans about 2 log2(batch) graphs.
Result<BatchFit> largest_batch(const std::function<Result<Graph>(int64_t)>& bound, int64_t bytes,
                               int64_t limit = int64_t{1} << 31);

}  // namespace assay

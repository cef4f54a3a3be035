// SPDX-License-Identifier: Apache-2.0
//
// Counting: what a graph costs, without running it. docs/method/cost.md has the convention.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/operator.h"

namespace assay {

struct GraphCount {
  int64_t parameters = 0;  // elements, trainable and not; shared ones once; states not counted
  int64_t trainable_parameters = 0;
  int64_t parameter_bytes = 0;
  double macs = 0;   // field's convention: convolutions and matrix products only
  double flops = 0;  // every operator
  double transcendentals = 0;
  double read_bytes = 0;  // unfused: each operand of each node once
  double write_bytes = 0;
  int64_t activation_bytes = 0;  // sum of all computed values; views take none
  // Parameters + states + constants + inputs + the computed values alive at the worst node: from
  // the node that computes them to their last use, outputs to the end. Nothing is done in place.
  int64_t peak_bytes = 0;
  int64_t nodes = 0;
  bool lower_bound = false;     // some node's cost is one (Cost::lower_bound)
  int64_t uncounted_nodes = 0;  // of unknown operators or shapes; see count_known()

  double intensity_flop_per_byte() const {
    const double bytes = read_bytes + write_bytes;
    return bytes > 0 ? flops / bytes : 0;
  }
};

// Error kUnsupported names the first value whose shape is not known.
Result<GraphCount> count(const Graph& graph);

// As far as shapes are known: nodes of unknown operators, or with an operand of unknown shape, cost
// nothing and are counted in `uncounted_nodes`; values of unknown shape take no memory.
GraphCount count_known(const Graph& graph);
// Whether count_known() leaves the node out.
bool is_countable(const Graph& graph, const Node& node);

}  // namespace assay

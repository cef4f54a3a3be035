// SPDX-License-Identifier: Apache-2.0
//
// The network that a user names: a model, a workload's model, or an ONNX file, with the sizes of
// its dimensions bound.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "graph/graph.h"

namespace assay::cli {

struct Network {
  std::string model;    // name or file
  std::string variant;  // empty for a file
  int64_t batch = 1;
  Graph graph;
};

// --variant, --batch, --bind.
std::vector<Option> network_options();

// The invocation's first positional. With `bind_batch` false only dimensions of --bind are bound.
Network open_network(const Invocation& invocation, bool bind_batch = true);

}  // namespace assay::cli

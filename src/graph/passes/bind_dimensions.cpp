// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {
namespace {

// The named unknown dimensions of the inputs: the only ones that can be given a size.
std::set<std::string> symbols(const Graph& graph) {
  std::set<std::string> names;
  for (const ValueId id : graph.inputs()) {
    const auto& shape = graph.value(id).type.shape;
    if (!shape) continue;
    for (const Dim& dim : shape->dims()) {
      if (!dim.known() && !dim.name().empty()) names.insert(dim.name());
    }
  }
  return names;
}

Result<void> check_names(const Graph& graph, const std::map<std::string, int64_t>& sizes) {
  const std::set<std::string> known = symbols(graph);
  const std::vector<std::string> list(known.begin(), known.end());
  for (const auto& [name, size] : sizes) {
    if (!known.contains(name)) {
      Error error{ErrorCode::kInvalid, "the graph has no dimension '" + name + "'", graph.name()};
      if (const auto near = nearest_name(name, list)) {
        error.hint = "did you mean '" + *near + "'?";
      } else {
        error.hint = list.empty() ? "it has none" : "it has " + join(list, ", ");
      }
      return error;
    }
    if (size < 0) {
      return Error{ErrorCode::kInvalid, "the size " + std::to_string(size) + " is negative",
                   "dimension " + name};
    }
  }
  return {};
}

TensorType bound(const TensorType& type, const std::map<std::string, int64_t>& sizes) {
  TensorType result = type;
  if (!result.shape) return result;
  for (size_t i = 0; i < result.shape->rank(); ++i) {
    Dim& dim = (*result.shape)[i];
    if (dim.known()) continue;
    if (const auto it = sizes.find(dim.name()); it != sizes.end()) dim = it->second;
  }
  return result;
}

}  // namespace

Result<Graph> bind_dimensions(const Graph& graph, const std::map<std::string, int64_t>& sizes) {
  ASSAY_TRY(check_names(graph, sizes));
  for (const ValueId id : graph.inputs()) {
    const TensorType type = bound(graph.value(id).type, sizes);
    if (!type.known()) continue;
    if (auto bytes = type.bytes(); !bytes.ok()) return Error(bytes.error());
  }
  Replay replay(graph);
  replay.sources([&](const Value& value) { return bound(value.type, sizes); },
                 [](ValueId) { return true; });
  for (const Node& node : graph.nodes()) ASSAY_TRY(replay.node(node));
  return replay.finish();
}

}  // namespace assay

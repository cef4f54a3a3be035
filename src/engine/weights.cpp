// SPDX-License-Identifier: Apache-2.0
#include "engine/weights.h"

#include <utility>

namespace assay {
namespace {

Result<void> check_type(const std::string& name, const TensorType& wanted, const Tensor& given) {
  if (given.type() == wanted) return {};
  return Error{ErrorCode::kInvalid,
               "'" + name + "' is " + given.type().text() + ", the network wants " + wanted.text(),
               ""};
}

Result<void> add_one(const Graph& graph, ValueId id, const Initializer& initializer,
                     const NamedTensors& given, RandomKey seed, NamedTensors& all) {
  const Value& value = graph.value(id);
  if (const auto found = given.find(value.name); found != given.end()) {
    ASSAY_TRY(check_type(value.name, value.type, found->second));
    all[value.name] = found->second;
    return {};
  }
  ASSAY_ASSIGN(all[value.name], materialize(initializer, value.type, seed, value.name));
  return {};
}

Result<void> check_one(const Graph& graph, ValueId id, const NamedTensors& given) {
  const Value& value = graph.value(id);
  const auto found = given.find(value.name);
  if (found == given.end()) {
    return Error{ErrorCode::kInvalid, "'" + value.name + "' is missing", ""};
  }
  return check_type(value.name, value.type, found->second);
}

}  // namespace

Result<NamedTensors> initial_tensors(const Graph& graph, const NamedTensors& given,
                                     RandomKey seed) {
  NamedTensors all;
  for (const Parameter& parameter : graph.parameters()) {
    ASSAY_TRY(add_one(graph, parameter.value, parameter.initializer, given, seed, all));
  }
  for (const State& state : graph.states()) {
    ASSAY_TRY(add_one(graph, state.value, state.initializer, given, seed, all));
  }
  return all;
}

Result<void> check_complete(const Graph& graph, const NamedTensors& given) {
  for (const Parameter& parameter : graph.parameters()) {
    ASSAY_TRY(check_one(graph, parameter.value, given));
  }
  for (const State& state : graph.states()) ASSAY_TRY(check_one(graph, state.value, given));
  return {};
}

}  // namespace assay

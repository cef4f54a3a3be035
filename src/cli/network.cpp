// SPDX-License-Identifier: Apache-2.0
#include "cli/network.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/cases.h"
#include "cli/catalogue.h"
#include "cli/output.h"
#include "graph/passes/passes.h"
#include "model/model.h"
#include "onnx/read.h"
#include "study/model_subject.h"

namespace assay::cli {
namespace {

// Sizes of symbolic dimensions: every --bind dim=value.
std::map<std::string, int64_t> bindings(const Invocation& invocation) {
  std::map<std::string, int64_t> sizes;
  const auto given = invocation.options.find("--bind");
  if (given == invocation.options.end()) return sizes;
  for (const std::string& text : given->second) {
    const size_t equals = text.rfind('=');
    const Result<int64_t> value =
        equals == std::string::npos ? Result<int64_t>(0) : parse_int(text.substr(equals + 1));
    if (equals == 0 || !value.ok() || *value < 1 || *value > INT32_MAX)
      throw UserError(fmt::format("'{}' is not DIM=SIZE", text), "--bind",
                      "for example --bind sequence=128");
    sizes[text.substr(0, equals)] = *value;
  }
  return sizes;
}

// A workload's name stands for its model.
ModelConfig config_of(const Invocation& invocation, Network& network) {
  const auto [kind, name] = resolve_target(invocation.positionals[0], network.variant).front();
  network.model = name;
  if (kind == "model") return value_or_fail(model_config(name, network.variant));
  for (const Workload& workload : all_workloads()) {
    if (workload.name != name) continue;
    if (const WorkloadVariant* variant = workload.variant(network.variant)) {
      network.model = variant->model;
      return variant->model_config;
    }
    std::vector<std::string> names;
    for (const WorkloadVariant& variant : workload.variants) names.push_back(variant.name);
    throw UserError(fmt::format("workload '{}' has no variant '{}'", name, network.variant),
                    "--variant", fmt::format("there are: {}", join(names, ", ")));
  }
  return {};
}

// The graph with every dimension that has a size given.
Graph bound_graph(const Invocation& invocation, Network& network, bool bind_batch) {
  const std::string& name = invocation.positionals[0];
  std::map<std::string, int64_t> sizes = bindings(invocation);
  if (is_onnx_file(name)) {
    network.model = name;
    network.variant = "";
    const Graph read = value_or_fail(read_onnx(name));
    return value_or_fail(bind_batch ? bind_file(read, std::move(sizes), network.batch)
                                    : bind_dimensions(read, sizes));
  }
  const ModelConfig config = config_of(invocation, network);
  const Graph graph = value_or_fail(build_model(network.model, config, Phase::kInference));
  if (bind_batch) network.batch = sizes.emplace("batch", network.batch).first->second;
  return value_or_fail(bind_dimensions(graph, sizes));
}

Option option(std::string name, OptionKind kind, std::string value_name, std::string doc,
              std::string fallback, std::optional<NumberRule> number = std::nullopt) {
  return {.name = std::move(name),
          .kind = kind,
          .value_name = std::move(value_name),
          .doc = std::move(doc),
          .default_text = std::move(fallback),
          .choices = {},
          .number = number};
}

}  // namespace

std::vector<Option> network_options() {
  return {
      option("--variant", OptionKind::kValue, "NAME",
             "published sizes (reference) or a workload's variant", "reference"),
      option("--batch", OptionKind::kValue, "N", "items a call", "1", rule_of_case_key("batch")),
      option("--bind", OptionKind::kList, "DIM=SIZE",
             "size of another dimension; a file's without a name are INPUT.AXIS", "")};
}

Network open_network(const Invocation& invocation, bool bind_batch) {
  Network network;
  network.variant = invocation.value_or("--variant", "reference");
  network.batch = std::max<int64_t>(1, invocation.integer("--batch").value_or(1));
  network.graph = bound_graph(invocation, network, bind_batch);
  return network;
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of networks: a name and a configuration as text (from workloads/*.toml or the
// command line) to a Graph. Building allocates no weights; ResNet-50 takes well under 5 ms.
// Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "model/phase.h"

namespace assay {

using ModelConfig = std::map<std::string, std::string>;

// One key a model's configuration may have.
struct ModelKey {
  std::string name;
  std::string default_value;
  std::string doc;
};

struct ModelEntry {
  std::string name;     // "resnet50"
  std::string summary;  // one line
  std::string source;   // the paper or repository whose sizes the defaults are
  std::string domain;   // "vision"
  std::string item;     // what one item of a batch is: "image"
  std::vector<ModelKey> keys;
  Result<Graph> (*build)(const ModelEntry& entry, const ModelConfig& config, Phase phase) = nullptr;
};

// Sorted by name.
const std::vector<ModelEntry>& list_models();
const ModelEntry* find_model(std::string_view name);

// kNotFound for an unknown model, kInvalid for an unknown key or a bad value; both with the nearest
// name as hint.
Result<Graph> build_model(std::string_view name, const ModelConfig& config, Phase phase);

}  // namespace assay

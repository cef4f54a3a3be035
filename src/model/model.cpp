// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <algorithm>

#include "base/text.h"
#include "model/resnet_entry.h"

namespace assay {

const std::vector<ModelEntry>& list_models() {
  static const std::vector<ModelEntry> models = [] {
    std::vector<ModelEntry> all;
    add_resnet_models(all);
    std::ranges::sort(all, {}, &ModelEntry::name);
    return all;
  }();
  return models;
}

const ModelEntry* find_model(std::string_view name) {
  const auto& models = list_models();
  const auto it = std::ranges::find(models, name, &ModelEntry::name);
  return it == models.end() ? nullptr : &*it;
}

Result<Graph> build_model(std::string_view name, const ModelConfig& config, Phase phase) {
  const ModelEntry* entry = find_model(name);
  if (entry != nullptr) return entry->build(*entry, config, phase);
  std::vector<std::string> known;
  known.reserve(list_models().size());
  for (const ModelEntry& model : list_models()) known.push_back(model.name);
  Error error{ErrorCode::kNotFound, "no model '" + std::string(name) + "'"};
  const auto near = nearest_name(name, known);
  error.hint = near ? "did you mean '" + *near + "'?" : "'assay list models' names them";
  return error;
}

}  // namespace assay

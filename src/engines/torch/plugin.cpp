// SPDX-License-Identifier: Apache-2.0
#include "engine/plugin.h"

#include <cstdio>
#include <exception>

#include "engines/torch/torch_engine.h"

namespace {

assay::Engine* create(char* error, size_t error_size) {
  try {
    return assay::torch_engine::make_torch_engine().release();
  } catch (const std::exception& thrown) {
    std::snprintf(error, error_size, "libtorch: %s", thrown.what());
    return nullptr;
  }
}

void destroy(assay::Engine* engine) { delete engine; }

}  // namespace

ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin() {
  static const AssayEnginePlugin kPlugin = {assay::engine_build_id(), "torch", create, destroy};
  return &kPlugin;
}

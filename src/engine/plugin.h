// SPDX-License-Identifier: Apache-2.0
//
// Engines outside the executable are shared objects of this tree, loaded RTLD_LOCAL, one framework
// a process. A plugin exports one C function that returns one table; the build id proves that both
// sides were compiled from the same headers by the same compiler.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"

extern "C" {
struct AssayEnginePlugin {
  const char* build_id;
  const char* name;
  // Null on failure; then `error` (of `error_size` bytes) holds the reason.
  assay::Engine* (*create)(char* error, size_t error_size);
  void (*destroy)(assay::Engine* engine);
};
using AssayEnginePluginFunction = const AssayEnginePlugin* (*)();
}

#define ASSAY_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
// Every plugin defines: ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin();

namespace assay {

// A hash of the interface headers and the compiler, generated at build time.
const char* engine_build_id();

// An engine that can be had here, known without loading it (from the manifest beside its plugin).
struct EngineInfo {
  std::string name;
  std::string version;           // the framework's
  std::filesystem::path plugin;  // empty: built in (reference, null)
  bool available = true;
  std::string reason;  // why not, and what mends it
};

std::vector<EngineInfo> available_engines();

using EngineHandle =
    std::shared_ptr<Engine>;  // its deleter unloads nothing: frameworks do not unload

// "torch", "reference", "null", "null:N" (N pretend devices). Unknown names give the nearest match.
Result<EngineHandle> load_engine(const std::string& name);
Result<EngineHandle> load_plugin(const std::filesystem::path& file);

}  // namespace assay

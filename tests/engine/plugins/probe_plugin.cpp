// SPDX-License-Identifier: Apache-2.0
//
// A plugin for tests: the null engine behind the plugin border, whole or damaged as PROBE_KIND
// says.
#include <cstdio>
#include <memory>

#include "engine/null.h"
#include "engine/plugin.h"

namespace {

assay::Engine* create(char* /*error*/, size_t /*error_size*/) {
  return assay::make_null_engine("null:3").value().release();
}
[[maybe_unused]] assay::Engine* refuse(char* error, size_t error_size) {
  std::snprintf(error, error_size, "its framework is out of order");
  return nullptr;
}
void destroy(assay::Engine* engine) { delete engine; }

}  // namespace

#if defined(PROBE_GOOD)
ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin() {
  static const AssayEnginePlugin table = {assay::engine_build_id(), "probe", create, destroy};
  return &table;
}
#elif defined(PROBE_OTHER_BUILD)
ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin() {
  static const AssayEnginePlugin table = {"0123456789abcdef", "probe", create, destroy};
  return &table;
}
#elif defined(PROBE_REFUSING)
ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin() {
  static const AssayEnginePlugin table = {assay::engine_build_id(), "probe", refuse, destroy};
  return &table;
}
#elif defined(PROBE_INCOMPLETE)
ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin() {
  static const AssayEnginePlugin table = {assay::engine_build_id(), "probe", create, nullptr};
  return &table;
}
#elif defined(PROBE_NO_TABLE)
ASSAY_PLUGIN_EXPORT const AssayEnginePlugin* assay_engine_plugin() { return nullptr; }
#elif defined(PROBE_NO_SYMBOL)
ASSAY_PLUGIN_EXPORT const char* something_else() { return "hello"; }
#endif

// SPDX-License-Identifier: Apache-2.0
#include "engine/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/check.h"
#include "engine/null.h"
#include "engine/reference.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Engines that a complete build has, so that their absence can be told from a misspelt name.
constexpr std::array<std::string_view, 1> kFrameworkEngines = {"torch"};
constexpr const char* kHowToBuild = "run `./dev setup` and then `./dev build`";
constexpr std::string_view kBuiltInVersion = "1";

fs::path plugin_folder() {
  if (const char* folder = std::getenv("ASSAY_ENGINES"); folder != nullptr && *folder != '\0') {
    return folder;
  }
  return executable_folder() / ".." / "lib" / "assay" / "engines";
}

// What the manifest says; an unreadable one makes the engine unavailable with that reason.
EngineInfo read_manifest(const fs::path& manifest) {
  EngineInfo info;
  info.name = manifest.stem().string();
  info.plugin = fs::path(manifest).replace_extension(".so");
  const auto unavailable = [&info](std::string reason) {
    info.available = false;
    info.reason = std::move(reason);
    return info;
  };
  const Result<std::string> text = read_file(manifest, Bytes{1 << 16});
  if (!text.ok()) return unavailable(text.error().text());
  const Result<Json> json = parse_json(*text, manifest.string());
  if (!json.ok()) return unavailable(json.error().text());
  if (!json->is_object() || !json->contains("version") || !(*json)["version"].is_string()) {
    return unavailable("manifest without a version (" + manifest.string() + ")");
  }
  info.version = (*json)["version"].get<std::string>();
  std::error_code ignored;
  if (!fs::exists(info.plugin, ignored)) {
    return unavailable(std::string("not built yet; ") + kHowToBuild);
  }
  return info;
}

Error refused(std::string message, const fs::path& file, std::string hint = "") {
  return Error{ErrorCode::kUnsupported, std::move(message), file.string(), std::move(hint)};
}

Result<const AssayEnginePlugin*> plugin_table(const fs::path& file) {
  // The handle stays open for the life of the process: frameworks do not survive being unloaded.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return refused("cannot load the engine: " + std::string(why != nullptr ? why : "unknown"), file,
                   kHowToBuild);
  }
  void* symbol = dlsym(handle, "assay_engine_plugin");
  if (symbol == nullptr) return refused("not an engine plugin: no assay_engine_plugin()", file);
  const AssayEnginePlugin* table = reinterpret_cast<AssayEnginePluginFunction>(symbol)();
  if (table == nullptr || table->build_id == nullptr) {
    return refused("not an engine plugin: it returns no table", file);
  }
  // The build id comes first: of another build not even the rest of the table can be believed.
  if (std::strcmp(table->build_id, engine_build_id()) != 0) {
    return refused("plugin of another build: its id is " + std::string(table->build_id) +
                       ", this program's is " + engine_build_id(),
                   file, "run `./dev build`");
  }
  if (table->name == nullptr || table->create == nullptr || table->destroy == nullptr) {
    return refused("not an engine plugin: its table is incomplete", file);
  }
  return table;
}

EngineInfo built_in(std::string name) {
  EngineInfo info;
  info.name = std::move(name);
  info.version = kBuiltInVersion;
  return info;
}

Error unknown_engine(const std::string& name) {
  std::vector<std::string> names;
  for (const EngineInfo& info : available_engines()) names.push_back(info.name);
  const auto near = nearest_name(name, names);
  return Error{ErrorCode::kNotFound, "no engine is called '" + name + "'", "",
               near ? "did you mean '" + *near + "'?" : "there are " + join(names, ", ")};
}

}  // namespace

std::vector<EngineInfo> available_engines() {
  std::vector<EngineInfo> engines = {built_in("null"), built_in("reference")};
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(plugin_folder(), ignored)) {
    if (entry.path().extension() == ".json") engines.push_back(read_manifest(entry.path()));
  }
  for (const std::string_view name : kFrameworkEngines) {
    const bool listed = std::any_of(engines.begin(), engines.end(),
                                    [name](const EngineInfo& info) { return info.name == name; });
    if (listed) continue;
    EngineInfo info;
    info.name = name;
    info.available = false;
    info.reason = std::string("not in this build; ") + kHowToBuild;
    engines.push_back(std::move(info));
  }
  std::sort(engines.begin(), engines.end(),
            [](const EngineInfo& a, const EngineInfo& b) { return a.name < b.name; });
  return engines;
}

Result<EngineHandle> load_engine(const std::string& name) {
  if (name == "reference") return EngineHandle(make_reference_engine());
  if (name == "null" || name.rfind("null:", 0) == 0) {
    ASSAY_ASSIGN(std::unique_ptr<Engine> engine, make_null_engine(name));
    return EngineHandle(std::move(engine));
  }
  if (name.rfind("check:", 0) == 0) {
    ASSAY_ASSIGN(std::unique_ptr<Engine> engine, make_check_engine(name));
    return EngineHandle(std::move(engine));
  }
  for (const EngineInfo& info : available_engines()) {
    if (info.name != name) continue;
    if (!info.available) {
      return Error{ErrorCode::kUnsupported, "engine '" + name + "': " + info.reason,
                   info.plugin.string(), kHowToBuild};
    }
    return load_plugin(info.plugin);
  }
  return unknown_engine(name);
}

Result<EngineHandle> load_plugin(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    return Error{ErrorCode::kNotFound, "no engine plugin here", file.string(), kHowToBuild};
  }
  ASSAY_ASSIGN(const AssayEnginePlugin* table, plugin_table(file));
  std::array<char, 512> reason{};
  Engine* engine = table->create(reason.data(), reason.size());
  if (engine == nullptr) {
    reason.back() = '\0';
    return refused("the engine did not start: " + std::string(reason.data()), file);
  }
  return EngineHandle(engine, table->destroy);
}

}  // namespace assay

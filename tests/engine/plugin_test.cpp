// SPDX-License-Identifier: Apache-2.0
#include "engine/plugin.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

// Points ASSAY_ENGINES somewhere while it lives.
class EngineFolder {
 public:
  explicit EngineFolder(const std::string& folder) {
    if (const char* old = std::getenv("ASSAY_ENGINES")) old_ = old;
    setenv("ASSAY_ENGINES", folder.c_str(), 1);
  }
  ~EngineFolder() {
    if (old_) {
      setenv("ASSAY_ENGINES", old_->c_str(), 1);
    } else {
      unsetenv("ASSAY_ENGINES");
    }
  }

 private:
  std::optional<std::string> old_;
};

std::string empty_folder(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("assay_plugin_test_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

std::optional<EngineInfo> info_of(const std::string& name) {
  for (const EngineInfo& info : available_engines()) {
    if (info.name == name) return info;
  }
  return std::nullopt;
}

std::string probe(const std::string& kind) {
  return std::string(PROBE_FOLDER) + "/probe_" + kind + ".so";
}

TEST(LoadPlugin, GivesTheEngineOfAPluginOfThisBuild) {
  const Result<EngineHandle> engine = load_plugin(probe("good"));
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ((*engine)->devices().size(), 3U);
}

TEST(LoadPlugin, RefusesAPluginOfAnotherBuildAndNamesBothIds) {
  const Result<EngineHandle> engine = load_plugin(probe("other_build"));
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(engine.error().message, HasSubstr("plugin of another build"));
  EXPECT_THAT(engine.error().message, HasSubstr("0123456789abcdef"));
  EXPECT_THAT(engine.error().message, HasSubstr(engine_build_id()));
  EXPECT_THAT(engine.error().hint, HasSubstr("./dev build"));
}

TEST(LoadPlugin, PassesOnWhyAnEngineDidNotStart) {
  const Result<EngineHandle> engine = load_plugin(probe("refusing"));
  ASSERT_FALSE(engine.ok());
  EXPECT_THAT(engine.error().message, HasSubstr("its framework is out of order"));
}

TEST(LoadPlugin, RefusesWhatIsNotAPlugin) {
  for (const char* kind : {"incomplete", "no_table", "no_symbol"}) {
    const Result<EngineHandle> engine = load_plugin(probe(kind));
    ASSERT_FALSE(engine.ok()) << kind;
    EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(engine.error().message, HasSubstr("not an engine plugin")) << kind;
    EXPECT_EQ(engine.error().place, probe(kind));
  }
}

TEST(LoadPlugin, RefusesAFileThatIsNoSharedObject) {
  const std::string file = empty_folder("no_object") + "/noise.so";
  std::ofstream(file) << "noise";
  const Result<EngineHandle> engine = load_plugin(file);
  ASSERT_FALSE(engine.ok());
  EXPECT_THAT(engine.error().message, HasSubstr("cannot load the engine"));
  EXPECT_THAT(engine.error().hint, HasSubstr("./dev setup"));
}

TEST(LoadPlugin, SaysWhereAPluginIsMissing) {
  const Result<EngineHandle> engine = load_plugin("/nowhere/torch.so");
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine.error().place, "/nowhere/torch.so");
}

TEST(BuildId, Is16HexadecimalDigits) {
  EXPECT_THAT(engine_build_id(), ::testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(std::string(engine_build_id()).size(), 16U);
}

TEST(AvailableEngines, ReadsNamesAndVersionsFromManifests) {
  const EngineFolder folder(PROBE_FOLDER);
  const auto info = info_of("probe_other_build");
  ASSERT_TRUE(info);
  EXPECT_TRUE(info->available);  // nothing is loaded to list it
  EXPECT_EQ(info->version, "7.5");
  EXPECT_EQ(info->plugin.filename(), "probe_other_build.so");
}

TEST(AvailableEngines, AlwaysHasTheBuiltInOnes) {
  const EngineFolder folder(empty_folder("built_in"));
  for (const char* name : {"null", "reference"}) {
    const auto info = info_of(name);
    ASSERT_TRUE(info) << name;
    EXPECT_TRUE(info->available);
    EXPECT_TRUE(info->plugin.empty());
  }
}

TEST(AvailableEngines, NamesTheFrameworkThatThisBuildLacks) {
  const EngineFolder folder(empty_folder("lacking"));
  const auto info = info_of("torch");
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->available);
  EXPECT_THAT(info->reason, HasSubstr("./dev setup"));
}

TEST(AvailableEngines, GivesTheReasonForADamagedManifest) {
  const std::string path = empty_folder("damaged");
  std::ofstream(path + "/broken.json") << "{\"name\": ";
  std::ofstream(path + "/unbuilt.json") << R"({"name": "unbuilt", "version": "1.0"})";
  std::ofstream(path + "/odd.json") << R"({"version": 3})";
  const EngineFolder folder(path);
  for (const char* name : {"broken", "unbuilt", "odd"}) {
    const auto info = info_of(name);
    ASSERT_TRUE(info) << name;
    EXPECT_FALSE(info->available) << name;
    EXPECT_FALSE(info->reason.empty()) << name;
  }
}

TEST(LoadEngine, LoadsByTheManifestsName) {
  const EngineFolder folder(PROBE_FOLDER);
  const Result<EngineHandle> engine = load_engine("probe_good");
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ((*engine)->devices().size(), 3U);
}

TEST(LoadEngine, SaysWhatToDoWhenTheFrameworkIsNotInThisBuild) {
  const EngineFolder folder(empty_folder("no_torch"));
  const Result<EngineHandle> engine = load_engine("torch");
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(engine.error().hint, HasSubstr("./dev setup"));
}

TEST(LoadEngine, GivesTheNearestNameForASlip) {
  const EngineFolder folder(empty_folder("slip"));
  const Result<EngineHandle> engine = load_engine("refrence");
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(engine.error().hint, HasSubstr("reference"));
  EXPECT_THAT(load_engine("zzzzzzzzzz").error().hint, HasSubstr("null, reference, torch"));
}

TEST(LoadEngine, KnowsThePretendDevices) {
  EXPECT_EQ(load_engine("null").value()->devices().size(), 1U);
  EXPECT_EQ(load_engine("null:4").value()->devices().size(), 4U);
  for (const char* name : {"null:", "null:0", "null:-1", "null:x", "null:99999"}) {
    const Result<EngineHandle> engine = load_engine(name);
    ASSERT_FALSE(engine.ok()) << name;
    EXPECT_EQ(engine.error().code, ErrorCode::kInvalid) << name;
  }
}

}  // namespace
}  // namespace assay

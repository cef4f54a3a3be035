// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "workload/workload.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGood = R"(
name = "image-classification"
task = "image-classification"
domain = "vision"
suite = "MLPerf Training v0.5"
metric = "top1"
item = "image"
data_license = "MIT"
[[baseline]]
name = "constant"
quality = 0.1
how = "one class"
[variant.small]
model = "resnet"
dataset = "fashion-mnist"
[variant.small.model_config]
image = "1x28x28"
classes = 10
blocks = [1, 2]
widths = [8, 16]
[variant.small.recipe]
batch = 32
epochs = 2
evaluations_per_epoch = 2
evaluation_batch = 100
target = 0.9
[variant.small.recipe.augmentation]
flip = 0.5
[variant.small.recipe.optimizer]
rate = 0.1
nesterov = true
[variant.small.recipe.schedule]
kind = "linear"
warmup_fraction = 0.25
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The error of the good file with one change.
Error error_with(const std::string& from, const std::string& to) {
  const auto workload = parse_workload(replaced(kGood, from, to), "w.toml");
  EXPECT_FALSE(workload.ok()) << to;
  return workload.ok() ? Error{} : workload.error();
}

TEST(WorkloadReader, ReadsEveryPart) {
  const auto workload = parse_workload(kGood, "w.toml");
  ASSERT_TRUE(workload.ok()) << workload.error().text();
  EXPECT_EQ(workload->suite, "MLPerf Training v0.5");
  ASSERT_EQ(workload->baselines.size(), 1U);
  EXPECT_DOUBLE_EQ(workload->baselines[0].quality, 0.1);
  const WorkloadVariant* small = workload->variant("small");
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(workload->variant("large"), nullptr);
  EXPECT_EQ(small->model_config.at("blocks"), "1,2");
  EXPECT_EQ(small->model_config.at("classes"), "10");
  EXPECT_EQ(small->recipe.batch, 32);
  EXPECT_DOUBLE_EQ(small->recipe.epochs, 2);
  EXPECT_EQ(small->recipe.schedule.kind, ScheduleKind::kLinear);
  EXPECT_DOUBLE_EQ(small->recipe.schedule.rate, 0.1);
  EXPECT_TRUE(small->recipe.optimizer.nesterov);
  EXPECT_EQ(small->recipe.extra.at("augmentation.flip"), "0.5");
}

TEST(WorkloadReader, NamesTheNearestKeyAndTheLine) {
  const Error error = error_with("evaluation_batch = 100", "evaluation_bach = 100");
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("'evaluation_bach'"));
  EXPECT_THAT(error.hint, HasSubstr("'evaluation_batch'"));
  EXPECT_EQ(error.place, "w.toml:25");
}

TEST(WorkloadReader, RefusesUnknownKeysOfEveryTable) {
  EXPECT_THAT(error_with("domain = ", "dmain = 1\ndomain = ").hint, HasSubstr("'domain'"));
  EXPECT_THAT(error_with("how = ", "qality = 1\nhow = ").hint, HasSubstr("'quality'"));
  EXPECT_THAT(error_with("dataset = ", "data = 1\ndataset = ").message, HasSubstr("'data'"));
  EXPECT_THAT(error_with("flip = ", "flop = ").hint, HasSubstr("'augmentation.flip'"));
  EXPECT_THAT(error_with("nesterov = ", "nestrov = ").hint, HasSubstr("'optimizer.nesterov'"));
}

TEST(WorkloadReader, RefusesWrongTypes) {
  EXPECT_THAT(error_with("batch = 32", "batch = 32.5").message, HasSubstr("an integer"));
  EXPECT_THAT(error_with("target = 0.9", "target = \"high\"").message, HasSubstr("a number"));
  EXPECT_THAT(error_with("nesterov = true", "nesterov = 1").message, HasSubstr("true or false"));
  EXPECT_THAT(error_with("item = \"image\"", "item = 3").message, HasSubstr("a text"));
  EXPECT_THAT(error_with("item = \"image\"", "item = \"\"").message, HasSubstr("not empty"));
  EXPECT_THAT(error_with("quality = 0.1", "quality = nan").message, HasSubstr("a number"));
  EXPECT_THAT(error_with("blocks = [1, 2]", "blocks = [[1], 2]").message,
              HasSubstr("a list in a list"));
}

TEST(WorkloadReader, RefusesValuesOutOfRangeAndSaysTheRange) {
  const std::pair<const char*, const char*> cases[] = {
      {"batch = 32", "batch = 0"},
      {"epochs = 2", "epochs = -1"},
      {"epochs = 2", "epochs = inf"},
      {"target = 0.9", "target = nan"},
      {"rate = 0.1", "rate = 0"},
      {"warmup_fraction = 0.25", "warmup_fraction = 1"},
      {"kind = \"linear\"", "kind = \"liner\""},
  };
  for (const auto& [from, to] : cases) {
    EXPECT_THAT(error_with(from, to).message, HasSubstr("out of range")) << to;
  }
}

TEST(WorkloadReader, RefusesMissingKeys) {
  EXPECT_THAT(error_with("metric = \"top1\"\n", "").message, HasSubstr("'metric' is missing"));
  EXPECT_THAT(error_with("rate = 0.1\n", "").message, HasSubstr("'optimizer.rate'"));
  EXPECT_THAT(error_with("batch = 32\n", "").message, HasSubstr("'batch'"));
}

TEST(WorkloadReader, RefusesRecipesThatContradictThemselves) {
  EXPECT_THAT(error_with("nesterov = true", "nesterov = true\nmomentum = 0").message,
              HasSubstr("Nesterov"));
  EXPECT_THAT(error_with("kind = \"linear\"", "kind = \"step\"").message,
              HasSubstr("needs boundaries"));
  EXPECT_THAT(error_with("kind = \"linear\"", "kind = \"linear\"\nboundaries = [0.5]").message,
              HasSubstr("only a step schedule"));
}

TEST(WorkloadReader, RefusesUnknownTasksAndMetrics) {
  EXPECT_THAT(error_with("task = \"image-classification\"", "task = \"image-clasification\"").hint,
              HasSubstr("'image-classification'"));
  EXPECT_THAT(error_with("metric = \"top1\"", "metric = \"map\"").hint, HasSubstr("top1, top5"));
}

TEST(WorkloadReader, SaysWhereTheSyntaxIsWrong) {
  const Error error = error_with("batch = 32", "batch = = 32");
  EXPECT_EQ(error.place, "w.toml:22");
}

TEST(WorkloadReader, RefusesControlCharactersBeforeTheParserSeesThem) {
  const std::string with_nul = std::string("name = \"x\"\n[a") + '\0' + "b]\n";
  for (const std::string& text :
       {with_nul, std::string("a = 1\n[\x01]\n"), std::string("\n\x7f")}) {
    const auto workload = parse_workload(text, "w.toml");
    ASSERT_FALSE(workload.ok());
    EXPECT_THAT(workload.error().message, HasSubstr("control character"));
    EXPECT_EQ(workload.error().place, "w.toml:2");
  }
}

// Found by fuzzing: toml++ takes it for granted that a key follows the bracket.
TEST(WorkloadReader, RefusesAHeaderWithoutAKey) {
  for (const char* text : {"[# x]", "name = \"x\"\n[#", "[\xff]", "[[=]]", "[.]"}) {
    EXPECT_FALSE(parse_workload(text, "w.toml").ok()) << text;
  }
}

TEST(WorkloadReader, RefusesLinesLongEnoughToNestTooDeeply) {
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  const auto workload = parse_workload(deep + " = 1", "w.toml");
  ASSERT_FALSE(workload.ok());
  EXPECT_THAT(workload.error().message, HasSubstr("a line of more than"));
}

TEST(WorkloadReader, WantsTheFileToBearTheWorkloadsName) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "assay_workload_reader";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "other.toml") << kGood;
  const auto workloads = load_workloads(folder);
  ASSERT_FALSE(workloads.ok());
  EXPECT_THAT(workloads.error().message, HasSubstr("image-classification.toml"));
}

TEST(WorkloadReader, SaysWhenTheFolderIsMissing) {
  const auto workloads = load_workloads("/nowhere/workloads");
  ASSERT_FALSE(workloads.ok());
  EXPECT_EQ(workloads.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(workloads.error().place, "/nowhere/workloads");
}

TEST(ShippedWorkloads, AreSoundAndTheirNetworksCanBeBuilt) {
  const auto workloads = load_workloads(std::string(ASSAY_SOURCE_DIR) + "/workloads");
  ASSERT_TRUE(workloads.ok()) << workloads.error().text();
  ASSERT_FALSE(workloads->empty());
  for (const Workload& workload : *workloads) {
    for (const WorkloadVariant& variant : workload.variants) {
      for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
        const auto graph = variant_graph(variant, phase);
        EXPECT_TRUE(graph.ok()) << workload.name << " " << variant.name << ": "
                                << (graph.ok() ? "" : graph.error().text());
      }
    }
    for (const Baseline& baseline : workload.baselines) {
      EXPECT_LT(baseline.quality, workload.variant("small")->recipe.target)
          << baseline.name << " is as good as the target";
    }
  }
}

}  // namespace
}  // namespace assay

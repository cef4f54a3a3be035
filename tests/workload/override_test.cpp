// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "workload/recipe_fields.h"
#include "workload/workload.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

const Workload& shipped() {
  static const Workload workload =
      read_workload(std::string(ASSAY_SOURCE_DIR) + "/workloads/image-classification.toml").value();
  return workload;
}
const WorkloadVariant& small() { return *shipped().variant("small"); }

using Overrides = std::map<std::string, std::string>;

TEST(Override, ChangesOneNumberOfTheRecipe) {
  const auto variant = override_recipe(small(), {{"optimizer.rate", "0.05"}, {"batch", "64"}});
  ASSERT_TRUE(variant.ok()) << variant.error().text();
  EXPECT_DOUBLE_EQ(variant->recipe.schedule.rate, 0.05);
  EXPECT_EQ(variant->recipe.batch, 64);
  EXPECT_DOUBLE_EQ(variant->recipe.target, small().recipe.target);
}

TEST(Override, UnderstandsTheLongFormAndBothSpellings) {
  for (const char* key : {"optimizer.rate", "optimiser.rate", "recipe.optimizer.rate"}) {
    const auto variant = override_recipe(small(), {{key, "0.05"}});
    ASSERT_TRUE(variant.ok()) << key;
    EXPECT_DOUBLE_EQ(variant->recipe.schedule.rate, 0.05) << key;
  }
}

TEST(Override, ReachesTheModelAndTheTasksOwnKeys) {
  const auto variant =
      override_recipe(small(), {{"model.stem_width", "8"}, {"augmentation.flip", "0"}});
  ASSERT_TRUE(variant.ok()) << variant.error().text();
  EXPECT_EQ(variant->model_config.at("stem_width"), "8");
  EXPECT_EQ(variant->recipe.extra.at("augmentation.flip"), "0");
}

TEST(Override, TurnsClippingOnAndOff) {
  const auto on = override_recipe(small(), {{"optimizer.clip_norm", "2.5"}});
  ASSERT_TRUE(on.ok());
  EXPECT_EQ(on->recipe.optimizer.clip_norm, 2.5);
  const auto off = override_recipe(*on, {{"optimizer.clip_norm", "0"}});
  ASSERT_TRUE(off.ok());
  EXPECT_FALSE(off->recipe.optimizer.clip_norm);
}

TEST(Override, NamesTheNearestKeyForASlip) {
  const auto variant = override_recipe(small(), {{"optimizer.rat", "1"}});
  ASSERT_FALSE(variant.ok());
  EXPECT_EQ(variant.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(variant.error().message, HasSubstr("'optimizer.rat'"));
  EXPECT_THAT(variant.error().hint, HasSubstr("'optimizer.rate'"));
}

TEST(Override, RefusesTextThatIsNotOfTheType) {
  const Overrides wrong = {{"batch", "many"},
                           {"epochs", "1x"},
                           {"optimizer.nesterov", "yes"},
                           {"schedule.boundaries", "0.5,a"},
                           {"schedule.kind", "sudden"},
                           {"batch", "0"}};
  for (const auto& [key, text] : wrong) {
    const auto variant = override_recipe(small(), {{key, text}});
    ASSERT_FALSE(variant.ok()) << key;
    EXPECT_EQ(variant.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(variant.error().place, key);
  }
}

TEST(Override, RefusesOptionsThatContradictEachOther) {
  EXPECT_FALSE(override_recipe(small(), {{"optimizer.momentum", "0"}}).ok());
  EXPECT_FALSE(override_recipe(small(), {{"schedule.kind", "step"}}).ok());
  const auto both =
      override_recipe(small(), {{"schedule.kind", "step"}, {"schedule.boundaries", "0.3,0.6"}});
  ASSERT_TRUE(both.ok()) << both.error().text();
  EXPECT_THAT(both->recipe.schedule.boundaries, ::testing::ElementsAre(0.3, 0.6));
}

TEST(RecipeJson, ChangesWithEveryFieldOfTheRecipe) {
  const std::string before = recipe_json(shipped(), small()).dump();
  const Overrides changes = {
      {"batch", "64"},
      {"epochs", "5"},
      {"evaluations_per_epoch", "1"},
      {"evaluation_batch", "100"},
      {"target", "0.5"},
      {"label_smoothing", "0.2"},
      {"optimizer.rate", "0.37"},
      {"optimizer.momentum", "0.8"},
      {"optimizer.nesterov", "false"},
      {"optimizer.beta1", "0.8"},
      {"optimizer.beta2", "0.8"},
      {"optimizer.epsilon", "1e-6"},
      {"optimizer.weight_decay", "0.1"},
      {"optimizer.decay_matrices_only", "false"},
      {"optimizer.clip_norm", "1"},
      {"schedule.kind", "cosine"},
      {"schedule.end_rate", "0.01"},
      {"schedule.warmup_fraction", "0.1"},
      {"schedule.power", "2"},
      {"schedule.factor", "0.5"},
      {"augmentation.flip", "0.1"},
      {"model.stem_width", "8"},
  };
  for (const auto& [key, text] : changes) {
    const auto variant = override_recipe(small(), {{key, text}});
    ASSERT_TRUE(variant.ok()) << key << ": " << variant.error().text();
    EXPECT_NE(recipe_json(shipped(), *variant).dump(), before) << key;
  }
  // What cannot be changed alone is optimizer.kind and schedule.boundaries.
  for (const RecipeField& field : recipe_fields()) {
    if (field.name == "optimizer.kind" || field.name == "schedule.boundaries") continue;
    EXPECT_TRUE(changes.contains(field.name)) << field.name << " is not tried";
  }
}

TEST(RecipeJson, IsTheSameForAnOverrideThatChangesNothing) {
  const auto variant = override_recipe(small(), {{"batch", std::to_string(small().recipe.batch)}});
  ASSERT_TRUE(variant.ok());
  EXPECT_EQ(recipe_json(shipped(), *variant).dump(), recipe_json(shipped(), small()).dump());
}

}  // namespace
}  // namespace assay

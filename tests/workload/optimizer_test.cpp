// SPDX-License-Identifier: Apache-2.0
#include "workload/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(OptimizerConfig, SparesVectorsAndScalarsTheDecay) {
  OptimizerConfig config;
  config.weight_decay = 0.5;
  EXPECT_EQ(config.decay_for({DType::kF32, {3, 4}}), 0.5);
  EXPECT_EQ(config.decay_for({DType::kF32, {3, 4, 1, 1}}), 0.5);
  EXPECT_EQ(config.decay_for({DType::kF32, {3}}), 0);
  EXPECT_EQ(config.decay_for({DType::kF32, Shape{}}), 0);
}

TEST(OptimizerConfig, DecaysEverythingWhenAsked) {
  OptimizerConfig config;
  config.weight_decay = 0.5;
  config.decay_matrices_only = false;
  EXPECT_EQ(config.decay_for({DType::kF32, {3}}), 0.5);
}

TEST(Optimizer, NamesParseBackAndSlipsAreNamed) {
  for (const char* name : {"sgd", "adam", "adamw"}) {
    EXPECT_EQ(optimizer_name(parse_optimizer(name).value()), name);
  }
  const auto slip = parse_optimizer("adanw");
  ASSERT_FALSE(slip.ok());
  EXPECT_THAT(slip.error().hint, ::testing::HasSubstr("'adamw'"));
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The small ResNet as a whole: fused inference against the reference engine.
#include "model/resnet.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "engines/torch/fixture.h"

namespace assay::torch_test {
namespace {

ResNetConfig small() {
  ResNetConfig config;
  config.channels = 1;
  config.height = config.width = 20;
  config.classes = 10;
  config.stem_kernel = 3;
  config.stem_stride = 1;
  config.stem_width = 8;
  config.blocks = {1, 2};
  config.widths = {8, 16};
  return config;
}

// Weights that leave no part of the network without effect: scales are not 0, statistics not 0 / 1.
NamedTensors weights(const Graph& graph) {
  NamedTensors all;
  for (const State& state : graph.states()) {
    const Value& value = graph.value(state.value);
    const bool variance = value.name.ends_with("var");
    all[value.name] = drawn(value.name, value.type.shape->sizes(), variance ? 0.5F : -0.5F,
                            variance ? 2.0F : 0.5F);
  }
  for (const Parameter& parameter : graph.parameters()) {
    const Value& value = graph.value(parameter.value);
    if (value.type.shape->rank() != 1) continue;
    const bool scale = value.name.ends_with("weight");
    all[value.name] =
        drawn(value.name, value.type.shape->sizes(), scale ? 0.5F : -0.5F, scale ? 1.5F : 0.5F);
  }
  return all;
}

const std::vector<Tensor>& images() {
  static const std::vector<Tensor> kImages = {drawn("images", {3, 1, 20, 20}, -2, 2)};
  return kImages;
}

// Rounding errors of the longest sum (144 terms a layer, 12 layers) add up like sqrt(n).
constexpr double kBound = 4 * 42.0;

TEST(ResNet, EqualsTheReferenceAtEveryOptimizationLevel) {
  const Graph graph = resnet(small(), Phase::kInference);
  const auto wanted = infer(reference(), graph, images(), one_thread(), weights(graph));
  ASSERT_TRUE(wanted.ok()) << wanted.error().text();
  for (const int level : {0, 1, 2, 3}) {
    const auto found =
        infer(torch(), graph, images(), one_thread(Precision::kF32, level), weights(graph));
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_LE(error_in_eps((*found)[0], (*wanted)[0]), kBound) << "level " << level;
  }
}

TEST(ResNet, AOnePercentErrorInOneWeightIsSeen) {
  const Graph graph = resnet(small(), Phase::kInference);
  NamedTensors wrong = weights(graph);
  const auto wanted = infer(reference(), graph, images(), one_thread(), wrong);
  ASSERT_TRUE(wanted.ok());
  Tensor scale = wrong.at("layer2.0.bn2.weight").clone();
  scale.values<float>()[3] *= 1.01F;
  wrong["layer2.0.bn2.weight"] = scale;
  const auto found = infer(torch(), graph, images(), one_thread(), wrong);
  ASSERT_TRUE(found.ok());
  EXPECT_GT(error_in_eps((*found)[0], (*wanted)[0]), kBound);
}

TEST(ResNet, BFloat16IsNear) {
  const Graph graph = resnet(small(), Phase::kInference);
  const auto wanted = infer(torch(), graph, images(), one_thread(), weights(graph));
  const auto found = infer(torch(), graph, images(), one_thread(Precision::kBF16), weights(graph));
  ASSERT_TRUE(wanted.ok() && found.ok());
  // 8 bits of mantissa instead of 24.
  EXPECT_LE(error_in_eps((*found)[0], (*wanted)[0]), 0x1p16 * 12);
  EXPECT_GT(error_in_eps((*found)[0], (*wanted)[0]), kBound);
}

TEST(ResNet, ProgramsServeEveryBatchSize) {
  const Graph graph = resnet(small(), Phase::kInference);
  const auto program = compiled(torch(), graph, one_thread(), weights(graph));
  for (const int64_t batch : {1, 5, 2}) {
    const std::vector<Tensor> inputs = {drawn("images", {batch, 1, 20, 20})};
    const auto found = run(*program, graph, inputs);
    ASSERT_TRUE(found.ok()) << found.error().text();
    const auto wanted = infer(reference(), graph, inputs, one_thread(), weights(graph));
    EXPECT_LE(error_in_eps((*found)[0], (*wanted)[0]), kBound);
  }
}

TEST(ResNet, SaysWhatWasFusedAndFolded) {
  const Graph graph = resnet(small(), Phase::kInference);
  const auto program = compiled(torch(), graph, one_thread());
  const Json done = program->as_compiled();
  EXPECT_EQ(done.at("layout"), "channels-last");
  EXPECT_EQ(done.at("threads"), 1);
  EXPECT_FALSE(done.at("instruction_set").get<std::string>().empty());
  size_t convolutions = 0;
  for (const Json& step : done.at("nodes")) {
    EXPECT_NE(step.at("kernel"), "aten::native_batch_norm");
    EXPECT_NE(step.at("kernel"), "aten::relu");
    if (step.at("kernel").get<std::string>().starts_with("mkldnn::_convolution")) ++convolutions;
  }
  EXPECT_EQ(convolutions, 1 + 3 * 3 + 2U);
  const Json plain = compiled(torch(), graph, one_thread(Precision::kF32, 0))->as_compiled();
  EXPECT_EQ(plain.at("layout"), "row-major");
  EXPECT_EQ(plain.at("nodes").size(), graph.nodes().size());
}

TEST(ResNet, TrainsWithStepsInPlace) {
  OptimizerConfig config;
  const Graph graph = resnet(small(), Phase::kTraining, 0.1F);
  auto trainer = torch().trainer(graph, config, one_thread(), RandomKey(5), nullptr);
  ASSERT_TRUE(trainer.ok()) << trainer.error().text();
  const std::vector<Tensor> inputs = {drawn("images", {16, 1, 20, 20}), labels({16}, 10)};
  double first = 0;
  double last = 0;
  for (int step = 0; step < 30; ++step) {
    ASSERT_TRUE((*trainer)->accumulate(views(inputs), RandomKey(0), 1).ok());
    last = *(*trainer)->loss();
    if (step == 0) first = last;
    ASSERT_TRUE((*trainer)->apply(0.05).ok());
  }
  EXPECT_LT(last, 0.7 * first);
}

}  // namespace
}  // namespace assay::torch_test

// SPDX-License-Identifier: Apache-2.0
//
// Golden counts and names are torchvision's, multiply-adds fvcore's: tests/model/make_golden.py.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "graph/count.h"
#include "graph/passes/passes.h"
#include "model/model.h"

namespace assay {
namespace {

Graph bound(const std::string& name, const ModelConfig& config, Phase phase, int64_t batch) {
  auto graph = build_model(name, config, phase);
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  auto result = bind_dimensions(*graph, {{"batch", batch}});
  EXPECT_TRUE(result.ok()) << result.error().text();
  return *std::move(result);
}

GraphCount counted(const std::string& name, const ModelConfig& config = {}, int64_t batch = 1) {
  auto result = count(bound(name, config, Phase::kInference, batch));
  EXPECT_TRUE(result.ok()) << result.error().text();
  return *result;
}

// The bottleneck network for 28x28 grey images that trains in minutes.
const ModelConfig kSmall{{"image", "1x28x28"},    {"classes", "10"},    {"stem_kernel", "3"},
                         {"stem_stride", "1"},    {"stem_width", "16"}, {"blocks", "2,2,2,2"},
                         {"widths", "8,16,32,64"}};

ModelConfig small_with(std::string key, std::string value) {
  ModelConfig config = kSmall;
  config[std::move(key)] = std::move(value);
  return config;
}

std::set<std::string> operator_types(const Graph& graph) {
  std::set<std::string> types;
  for (const Node& node : graph.nodes()) types.insert(node.op->type);
  return types;
}

Json golden(const std::string& name) {
  const std::string path = ASSAY_SOURCE_DIR "/tests/model/golden.json";
  return (*parse_json(*read_file(path), path))[name];
}

void expect_golden_counts(const GraphCount& c, const Json& expected) {
  EXPECT_EQ(c.parameters, expected["parameters"].get<int64_t>());
  EXPECT_EQ(c.trainable_parameters, c.parameters);
  EXPECT_EQ(c.parameter_bytes, 4 * c.parameters);
  EXPECT_EQ(c.macs, expected["macs"].get<double>());
}

TEST(ResNet, PublishedNetworksHaveTheirCounts) {
  for (const char* name : {"resnet18", "resnet50", "resnet50-v1", "resnet152"}) {
    SCOPED_TRACE(name);
    expect_golden_counts(counted(name), golden(name));
  }
}

TEST(ResNet, FiftyHasTheCountsOfTheLiterature) {
  EXPECT_EQ(counted("resnet50").parameters, 25'557'032);
  EXPECT_EQ(counted("resnet50").macs, 4'089'184'256);
  EXPECT_EQ(counted("resnet50-v1").macs, 3'857'973'248);
  // User report U092: 3.63 GFLOP.
  EXPECT_NEAR(2 * counted("resnet18").macs, 3.63e9, 0.005e9);
}

TEST(ResNet, SmallBottleneckNetworksHaveTheirCounts) {
  expect_golden_counts(counted("resnet", kSmall), golden("small"));
  const ModelConfig wide{{"image", "1x28x28"},      {"classes", "10"},    {"stem_kernel", "3"},
                         {"stem_stride", "1"},      {"stem_width", "16"}, {"blocks", "1,1,1,1"},
                         {"widths", "16,32,64,128"}};
  EXPECT_EQ(counted("resnet", wide).parameters, 509'306);
}

TEST(ResNet, ParametersAndStatesAreTorchvisions) {
  const std::pair<const char*, Graph> networks[] = {
      {"resnet18", bound("resnet18", {}, Phase::kTraining, 1)},
      {"resnet50", bound("resnet50", {}, Phase::kTraining, 1)},
      {"small", bound("resnet", kSmall, Phase::kTraining, 1)}};
  for (const auto& [name, graph] : networks) {
    const Json tensors = golden(name)["tensors"];
    EXPECT_EQ(graph.parameters().size() + graph.states().size(), tensors.size());
    for (const auto& [tensor, shape] : tensors.items()) {
      const auto id = graph.find_value(tensor);
      ASSERT_TRUE(id.has_value()) << tensor;
      EXPECT_EQ(graph.value(*id).type.shape->sizes(), shape.get<std::vector<int64_t>>()) << tensor;
    }
  }
}

TEST(ResNet, CountsScaleWithTheBatch) {
  const GraphCount one = counted("resnet", kSmall, 1);
  const GraphCount eight = counted("resnet", kSmall, 8);
  EXPECT_EQ(eight.macs, 8 * one.macs);
  EXPECT_EQ(eight.parameters, one.parameters);
  EXPECT_EQ(eight.activation_bytes, 8 * one.activation_bytes);
}

TEST(ResNet, SmallNetworkHasTheOperatorTypesOfTheReference) {
  for (const Phase phase : {Phase::kInference, Phase::kTraining}) {
    const auto small = build_model("resnet", kSmall, phase);
    const auto reference = build_model("resnet50", {}, phase);
    ASSERT_TRUE(small.ok() && reference.ok());
    EXPECT_EQ(operator_types(*small), operator_types(*reference));
  }
}

TEST(ResNet, TrainingFormGivesTheLossFirst) {
  const Graph graph = bound("resnet", small_with("label_smoothing", "0.1"), Phase::kTraining, 4);
  ASSERT_EQ(graph.inputs().size(), 2u);
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "image");
  EXPECT_EQ(graph.value(graph.inputs()[1]).type.text(), "i64[4]");
  ASSERT_EQ(graph.outputs().size(), 2u);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "loss");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "f32[]");
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.text(), "f32[4, 10]");
  for (const State& state : graph.states()) EXPECT_NE(state.next, kNoValue);
}

TEST(ResNet, InferenceFormLeavesTheStatesAlone) {
  const Graph graph = bound("resnet", kSmall, Phase::kInference, 4);
  EXPECT_FALSE(graph.states().empty());
  for (const State& state : graph.states()) EXPECT_EQ(state.next, kNoValue);
}

TEST(ResNet, BothFormsHaveTheSameParametersAndStates) {
  const Graph a = bound("resnet50", {}, Phase::kInference, 1);
  const Graph b = bound("resnet50", {}, Phase::kTraining, 1);
  const auto names = [](const Graph& graph) {
    std::vector<std::string> all;
    for (const Parameter& p : graph.parameters()) all.push_back(graph.value(p.value).name);
    for (const State& s : graph.states()) all.push_back(graph.value(s.value).name);
    return all;
  };
  EXPECT_EQ(names(a), names(b));
  EXPECT_EQ(names(a).size(), 161u + 106u);
}

TEST(ResNet, LastScaleOfABlockStartsAtZeroWhenAsked) {
  for (const bool zero : {true, false}) {
    const Graph graph =
        bound("resnet", small_with("zero_init_last_gamma", zero ? "1" : "0"), Phase::kInference, 1);
    const ValueId gamma = *graph.find_value("layer1.0.bn3.weight");
    for (const Parameter& p : graph.parameters()) {
      if (p.value == gamma) {
        EXPECT_EQ(p.initializer.a, zero ? 0.0f : 1.0f);
      }
    }
  }
}

TEST(ResNet, HalfPrecisionKeepsTheLossAndOutputsInF32) {
  const Graph graph = bound("resnet", small_with("label_smoothing", "0.1"), Phase::kTraining, 4);
  const auto low = apply_precision(graph, Precision::kBF16);
  ASSERT_TRUE(low.ok()) << low.error().text();
  for (const ValueId id : low->outputs()) EXPECT_EQ(low->value(id).type.dtype, DType::kF32);
  EXPECT_EQ(low->value(low->outputs()[0]).name, "loss");
  EXPECT_EQ(low->value(low->outputs()[1]).name, "logits");
  size_t casts = 0;
  for (const Node& node : low->nodes()) {
    if (node.op->type == "Cast") ++casts;
    const DType out = low->value(node.outputs[0]).type.dtype;
    if (node.op->type == "Conv" || node.op->type == "BatchNormalization" ||
        node.op->type == "Relu" || node.op->type == "Add" || node.op->type == "MaxPool") {
      EXPECT_EQ(out, DType::kBF16) << node.name;
    }
  }
  // One for each convolution weight, two for the last layer, the image, and the logits.
  size_t weights = 0;
  for (const Parameter& p : graph.parameters()) {
    if (graph.value(p.value).type.shape->rank() == 4) ++weights;
  }
  EXPECT_EQ(casts, weights + 2 + 1 + 1);
}

TEST(Models, UnknownNameGetsTheNearest) {
  const auto graph = build_model("resnet5", {}, Phase::kInference);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kNotFound);
  EXPECT_NE(graph.error().hint.find("resnet"), std::string::npos);
}

TEST(Models, UnknownKeyGetsTheNearest) {
  const auto graph = build_model("resnet", {{"stem_widht", "16"}}, Phase::kInference);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(graph.error().hint, "did you mean 'stem_width'?");
}

TEST(Models, BadValuesAreRefusedByName) {
  const ModelConfig bad[] = {
      {{"image", "28x28"}},     {{"image", "1x0x28"}},    {{"classes", "ten"}},
      {{"classes", "1"}},       {{"stem_kernel", "4"}},   {{"stem_stride", "0"}},
      {{"block", "bottlneck"}}, {{"blocks", "2,2"}},      {{"widths", "8,,16,32"}},
      {{"bn_momentum", "nan"}}, {{"stem_pool", "maybe"}}, {{"label_smoothing", "1.5"}},
      {{"widths", "-8,8,8,8"}}, {{"stride_in", "5x5"}},   {{"expansion", "9223372036854775808"}}};
  for (const ModelConfig& config : bad) {
    const auto graph = build_model("resnet", config, Phase::kInference);
    ASSERT_FALSE(graph.ok()) << config.begin()->first;
    EXPECT_EQ(graph.error().code, ErrorCode::kInvalid);
    EXPECT_NE(graph.error().text().find(config.begin()->first), std::string::npos)
        << graph.error().text();
  }
}

TEST(Models, EveryModelBuildsInBothForms) {
  for (const ModelEntry& entry : list_models()) {
    for (const Phase phase : {Phase::kInference, Phase::kTraining}) {
      const auto graph = build_model(entry.name, {}, phase);
      EXPECT_TRUE(graph.ok()) << entry.name;
    }
  }
}

}  // namespace
}  // namespace assay

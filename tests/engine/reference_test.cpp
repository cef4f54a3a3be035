// SPDX-License-Identifier: Apache-2.0
#include "engine/reference.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/graphs.h"
#include "graph/memory.h"
#include "graph/passes/passes.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Program> compiled(const Graph& graph, const NamedTensors& weights = {}) {
  auto program = make_reference_engine()->compile(graph, Plan{}, weights, RandomKey(1));
  EXPECT_TRUE(program.ok()) << program.error().text();
  return std::move(program).value();
}

// Runs a program of one input and one output.
std::vector<float> run(Program& program, const Tensor& x, std::vector<int64_t> shape) {
  Tensor y = Tensor::zeros(DType::kF32, std::move(shape));
  const TensorView in = x.view();
  const TensorView out = y.view();
  const auto done = program.run({&in, 1}, {&out, 1});
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text());
  const auto values = y.values<float>();
  return {values.begin(), values.end()};
}

TEST(Reference, ComputesWhatOneFindsByHand) {
  const auto program = compiled(graphs::affine());
  EXPECT_THAT(run(*program, graphs::matrix(1, {1, 2}), {1, 2}), ElementsAre(0, 10.5F));
  EXPECT_THAT(run(*program, graphs::matrix(2, {5, 5, -1, 0}), {2, 2}),
              ElementsAre(10, 30.5F, 0, 0));
}

TEST(Reference, SharesOneSetOfWeightsBetweenBatchSizes) {
  NamedTensors weights;
  weights["b"] = graphs::vector({1, 1});
  const auto program = compiled(graphs::affine(), weights);
  EXPECT_THAT(run(*program, graphs::matrix(1, {1, 1}), {1, 2}), ElementsAre(5, 7));
  EXPECT_THAT(run(*program, graphs::matrix(2, {1, 1, 0, 0}), {2, 2}), ElementsAre(5, 7, 1, 1));
}

TEST(Reference, MovesStatesOn) {
  const auto program = compiled(graphs::running_sum());
  EXPECT_THAT(run(*program, graphs::vector({1, 2}), {2}), ElementsAre(1, 2));
  EXPECT_THAT(run(*program, graphs::vector({10, 20}), {2}), ElementsAre(11, 22));
  EXPECT_THAT(run(*program, graphs::vector({0, 0}), {2}), ElementsAre(11, 22));
}

TEST(Reference, TakesTheMemoryThatWasPlanned) {
  const auto program = compiled(graphs::affine());
  EXPECT_FALSE(program->memory().activations.has_value()) << "nothing has run";
  for (const int64_t batch : {1, 2}) {
    const Tensor x = Tensor::zeros(DType::kF32, {batch, 2});
    run(*program, x, {batch, 2});
    const auto bound = bind_dimensions(graphs::affine(), {{"batch", batch}});
    ASSERT_TRUE(bound.ok()) << bound.error().text();
    const auto plan = plan_memory(*bound);
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_EQ(program->memory().activations, Bytes{plan->peak.activations + plan->peak.workspace});
    EXPECT_EQ(program->memory().parameters, Bytes{plan->peak.parameters});
  }
}

TEST(Reference, LeavesGivenWeightsUntouched) {
  NamedTensors weights;
  weights["s"] = graphs::vector({5, 5});
  const auto program = compiled(graphs::running_sum(), weights);
  EXPECT_THAT(run(*program, graphs::vector({1, 1}), {2}), ElementsAre(6, 6));
  EXPECT_THAT(weights["s"].values<float>(), ElementsAre(5, 5));
}

TEST(Reference, RefusesInputsThatDoNotFit) {
  const auto program = compiled(graphs::affine());
  Tensor y = Tensor::zeros(DType::kF32, {1, 2});
  const TensorView out = y.view();
  const auto refusal = [&](std::vector<TensorView> inputs) {
    const auto done = program->run(inputs, {&out, 1});
    EXPECT_FALSE(done.ok());
    return done.ok() ? std::string() : done.error().text();
  };
  const Tensor wide = graphs::matrix(1, {1, 2, 3});
  const Tensor flat = graphs::vector({1, 2});
  EXPECT_THAT(refusal({wide.view()}), HasSubstr("f32[1, 3]"));
  EXPECT_THAT(refusal({flat.view()}), HasSubstr("f32[2]"));
  EXPECT_THAT(refusal({}), HasSubstr("0 inputs"));
  Tensor integers = Tensor::zeros(DType::kI64, {1, 2});
  EXPECT_THAT(refusal({integers.view()}), HasSubstr("i64"));
}

TEST(Reference, RefusesAnOutputBufferThatDoesNotFit) {
  const auto program = compiled(graphs::affine());
  const Tensor x = graphs::matrix(1, {1, 2});
  Tensor y = Tensor::zeros(DType::kF32, {3, 2});
  const TensorView in = x.view();
  const TensorView out = y.view();
  const auto done = program->run({&in, 1}, {&out, 1});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().place, "y");
}

TEST(Reference, SaysWhatItCannotDo) {
  const auto engine = make_reference_engine();
  Plan plan;
  plan.precision = Precision::kBF16;
  plan.device = Device{DeviceKind::kCuda, 0};
  const auto reasons = engine->unsupported(graphs::affine(), plan);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_THAT(reasons[0].reason, HasSubstr("cuda:0"));
  EXPECT_THAT(reasons[1].reason, HasSubstr("not bf16"));
  const auto program = engine->compile(graphs::affine(), plan, {}, RandomKey(1));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(engine->unsupported(graphs::affine(), Plan{}).empty());
}

TEST(Reference, SaysThatItDoesNotTrainYet) {
  const auto trainer = make_reference_engine()->trainer(graphs::affine(), OptimizerConfig{}, Plan{},
                                                        RandomKey(1), nullptr);
  ASSERT_FALSE(trainer.ok());
  EXPECT_EQ(trainer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(trainer.error().message, HasSubstr("gradient graphs"));
}

TEST(Reference, RefusesWeightsOfAnotherNetwork) {
  NamedTensors weights;
  weights["w"] = graphs::matrix(3, {1, 2, 3, 4, 5, 6});
  const auto program =
      make_reference_engine()->compile(graphs::affine(), Plan{}, weights, RandomKey(1));
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().message, HasSubstr("'w'"));
}

}  // namespace
}  // namespace assay

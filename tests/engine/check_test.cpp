// SPDX-License-Identifier: Apache-2.0
#include "engine/check.h"

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/graphs.h"
#include "engine/null.h"
#include "engine/plugin.h"
#include "engine/reference.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// The reference engine with one weight one per cent off.
class OffByOnePerCent final : public Engine {
 public:
  std::string name() const override { return "off"; }
  std::string version() const override { return "1"; }
  std::vector<Device> devices() const override { return {Device{}}; }
  std::vector<Unsupported> unsupported(const Graph&, const Plan&) const override { return {}; }
  Result<std::unique_ptr<Program>> compile(const Graph& graph, const Plan& plan,
                                           const NamedTensors& weights, RandomKey seed) override {
    NamedTensors wrong = weights;
    wrong["w"] = wrong["w"].clone();
    wrong["w"].values<float>()[3] *= 1.01F;
    return reference_->compile(graph, plan, wrong, seed);
  }
  Result<std::unique_ptr<Trainer>> trainer(const Graph& graph, const OptimizerConfig& optimizer,
                                           const Plan& plan, RandomKey seed,
                                           ProcessGroup* group) override {
    return reference_->trainer(graph, optimizer, plan, seed, group);
  }

 private:
  std::unique_ptr<Engine> reference_ = make_reference_engine();
};

struct Ran {
  Result<void> done;
  Json report;
};

Ran run_affine(Engine& engine, std::vector<float> input) {
  auto program = engine.compile(graphs::affine(), Plan{}, {}, RandomKey(1));
  EXPECT_TRUE(program.ok()) << program.error().text();
  const Tensor x = graphs::matrix(2, std::move(input));
  Tensor y = Tensor::zeros(DType::kF32, {2, 2});
  const TensorView in = x.view();
  const TensorView out = y.view();
  auto done = (*program)->run({&in, 1}, {&out, 1});
  return {std::move(done), (*program)->as_compiled()};
}

TEST(Check, PassesTwoEnginesThatAgree) {
  const auto engine = load_engine("check:reference,reference");
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ((*engine)->name(), "check:reference,reference");
  const Ran ran = run_affine(**engine, {5, 5, 1, 2});
  EXPECT_TRUE(ran.done.ok());
  EXPECT_EQ(ran.report["verdict"], "passed");
  EXPECT_EQ(ran.report["comparisons"], 1);
}

TEST(Check, CatchesOneWeightThatIsOnePerCentOff) {
  const auto engine =
      make_check_engine(std::make_shared<OffByOnePerCent>(), make_reference_engine());
  const Ran ran = run_affine(*engine, {5, 5, 1, 2});
  ASSERT_FALSE(ran.done.ok());
  EXPECT_THAT(ran.done.error().message, HasSubstr("disagree on output 'y'"));
  EXPECT_EQ(ran.report["verdict"], "failed");
}

TEST(Check, CatchesAnEngineThatComputesNothing) {
  const auto engine = load_engine("check:null,reference");
  ASSERT_TRUE(engine.ok());
  EXPECT_FALSE(run_affine(**engine, {5, 5, 1, 2}).done.ok());
}

TEST(Check, DoesNotTrustAComparisonOfZeros) {
  const auto engine = load_engine("check:null,null");
  ASSERT_TRUE(engine.ok());
  const Ran ran = run_affine(**engine, {5, 5, 1, 2});
  EXPECT_TRUE(ran.done.ok());
  EXPECT_EQ(ran.report["verdict"], "untrusted");
}

TEST(Check, ComparesTheLossesOfTwoTrainers) {
  const auto engine = load_engine("check:null,null:2");
  ASSERT_TRUE(engine.ok());
  auto trainer =
      (*engine)->trainer(graphs::affine(), OptimizerConfig{}, Plan{}, RandomKey(1), nullptr);
  ASSERT_TRUE(trainer.ok());
  ASSERT_TRUE((*trainer)->accumulate({}, RandomKey(1), 1).ok());
  ASSERT_TRUE((*trainer)->apply(0.1).ok());
  EXPECT_TRUE((*trainer)->loss().ok());
}

TEST(Check, NamesWhatOneOfTheTwoCannotDo) {
  const auto engine = load_engine("check:null,reference").value();
  Plan plan;
  plan.precision = Precision::kBF16;
  ASSERT_EQ(engine->unsupported(graphs::affine(), plan).size(), 1U);
  const auto trainer =
      engine->trainer(graphs::affine(), OptimizerConfig{}, Plan{}, RandomKey(1), nullptr);
  ASSERT_FALSE(trainer.ok());
  EXPECT_EQ(trainer.error().code, ErrorCode::kUnsupported);
}

TEST(Check, RefusesNamesThatAreNotTwoEngines) {
  for (const char* name : {"check:", "check:null", "check:,null", "check:null,", "check:a,b,c",
                           "check:check:null,null,null"}) {
    const auto engine = load_engine(name);
    ASSERT_FALSE(engine.ok()) << name;
    EXPECT_EQ(engine.error().code, ErrorCode::kInvalid) << name;
  }
  EXPECT_EQ(load_engine("check:null,nul").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace assay

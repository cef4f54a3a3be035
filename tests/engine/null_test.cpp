// SPDX-License-Identifier: Apache-2.0
#include "engine/null.h"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/allocations.h"
#include "engine/graphs.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// An engine made while ASSAY_NULL_FAULT is set.
Result<std::unique_ptr<Engine>> faulty(const std::string& fault) {
  setenv("ASSAY_NULL_FAULT", fault.c_str(), 1);
  auto engine = make_null_engine("null");
  unsetenv("ASSAY_NULL_FAULT");
  return engine;
}

std::unique_ptr<Trainer> trainer_of(Engine& engine) {
  return engine.trainer(graphs::affine(), OptimizerConfig{}, Plan{}, RandomKey(1), nullptr).value();
}

TEST(Null, AllocatesNothingInACall) {
  const auto engine = make_null_engine("null").value();
  const auto program = engine->compile(graphs::affine(), Plan{}, {}, RandomKey(1)).value();
  const auto trainer = trainer_of(*engine);
  Tensor x = graphs::matrix(1, {1, 2});
  Tensor y = graphs::matrix(1, {3, 4});
  const TensorView in = x.view();
  const TensorView out = y.view();
  const int64_t before = allocations();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(program->run({&in, 1}, {&out, 1}).ok());
    ASSERT_TRUE(trainer->accumulate({&in, 1}, RandomKey(1), 1).ok());
    ASSERT_TRUE(trainer->apply(0.1).ok());
    ASSERT_TRUE(trainer->loss().ok());
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_THAT(y.values<float>(), ::testing::ElementsAre(0, 0));
}

TEST(Null, PretendsToLearn) {
  const auto engine = make_null_engine("null").value();
  const auto trainer = trainer_of(*engine);
  EXPECT_DOUBLE_EQ(trainer->loss().value(), std::log(10.0));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(trainer->apply(0.1).ok());
  EXPECT_DOUBLE_EQ(trainer->loss().value(), std::log(10.0) / 2);
}

TEST(Null, ContinuesFromItsState) {
  const auto engine = make_null_engine("null").value();
  const auto first = trainer_of(*engine);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(first->apply(0.1).ok());
  const NamedTensors state = first->state().value();
  EXPECT_THAT(state.at("w").values<float>(), ::testing::ElementsAre(1, 2, 3, 4));
  const auto second = trainer_of(*engine);
  ASSERT_TRUE(second->set_state(state).ok());
  EXPECT_EQ(second->loss().value(), first->loss().value());
}

TEST(Null, RefusesTheStateOfAnotherNetwork) {
  const auto engine = make_null_engine("null").value();
  const auto trainer = trainer_of(*engine);
  NamedTensors state = trainer->state().value();
  state["w"] = graphs::vector({1});
  EXPECT_FALSE(trainer->set_state(state).ok());
  state = trainer->state().value();
  state.erase("b");
  EXPECT_THAT(trainer->set_state(state).error().message, HasSubstr("'b' is missing"));
  state = trainer->state().value();
  state.erase("optimizer.step");
  EXPECT_FALSE(trainer->set_state(state).ok());
}

TEST(Null, HasOnlyThePretendDevicesOfItsName) {
  const auto engine = make_null_engine("null:2").value();
  Plan plan;
  plan.device = Device{DeviceKind::kNull, 1};
  EXPECT_TRUE(engine->compile(graphs::affine(), plan, {}, RandomKey(1)).ok());
  plan.device.index = 2;
  const auto program = engine->compile(graphs::affine(), plan, {}, RandomKey(1));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::kUnsupported);
  plan.device = Device{DeviceKind::kCuda, 0};
  EXPECT_FALSE(engine->trainer(graphs::affine(), {}, plan, RandomKey(1), nullptr).ok());
}

TEST(NullFault, GivesNanFromItsStepOn) {
  const auto engine = faulty("nan@2").value();
  const auto trainer = trainer_of(*engine);
  EXPECT_FALSE(std::isnan(trainer->loss().value()));
  ASSERT_TRUE(trainer->apply(0.1).ok());
  ASSERT_TRUE(trainer->apply(0.1).ok());
  EXPECT_TRUE(std::isnan(trainer->loss().value()));
}

TEST(NullFault, FailsTheCallItNames) {
  const auto engine = faulty("error@1").value();
  const auto trainer = trainer_of(*engine);
  EXPECT_TRUE(trainer->accumulate({}, RandomKey(1), 1).ok());
  ASSERT_TRUE(trainer->apply(0.1).ok());
  const auto second = trainer->accumulate({}, RandomKey(1), 1);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kInternal);
}

TEST(NullFault, FailsCompilationOnlyWhenAskedTo) {
  const auto engine = faulty("error@compile").value();
  EXPECT_FALSE(engine->compile(graphs::affine(), Plan{}, {}, RandomKey(1)).ok());
  EXPECT_FALSE(engine->trainer(graphs::affine(), {}, Plan{}, RandomKey(1), nullptr).ok());
  const auto later = faulty("error@0").value();
  const auto program = later->compile(graphs::affine(), Plan{}, {}, RandomKey(1));
  ASSERT_TRUE(program.ok());
  EXPECT_FALSE((*program)->run({}, {}).ok());
}

TEST(NullFaultDeathTest, CrashesWhereItIsTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto engine = faulty("crash@0").value();
  const auto trainer = trainer_of(*engine);
  EXPECT_EXIT((void)trainer->accumulate({}, RandomKey(1), 1), ::testing::KilledBySignal(SIGSEGV),
              "");
}

TEST(NullFault, RefusesTextThatIsNoFault) {
  for (const char* text : {"crash", "crash@", "crash@-1", "boom@1", "nan@compile", "crash@x"}) {
    const auto engine = faulty(text);
    ASSERT_FALSE(engine.ok()) << text;
    EXPECT_EQ(engine.error().place, "ASSAY_NULL_FAULT");
  }
}

}  // namespace
}  // namespace assay

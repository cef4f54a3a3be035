// SPDX-License-Identifier: Apache-2.0
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/toy.h"

namespace assay {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using toy::ToyTask;
using toy::ToyTrainer;

TrainOptions options_for(const Recipe& recipe, uint64_t seed = 1) {
  TrainOptions options;
  options.recipe = recipe;
  options.seed = RandomKey(seed);
  return options;
}

Result<TrainOutcome> run(ToyTrainer& trainer, const TrainOptions& options) {
  const ToyTask task;
  const SteadyClock clock;
  const auto program = trainer.program(task.inference_graph()).value();
  return train(trainer, program.get(), task, options, clock);
}

// Records what it is told, and may act at a step.
class Witness final : public TrainObserver {
 public:
  void on_start(const TrainStart& start) override { started = start; }
  void on_step(int64_t step, double /*loss*/) override {
    ++steps;
    if (at_step) at_step(step);
  }
  void on_evaluation(const EvaluationPoint& point) override { points.push_back(point); }
  void on_stop(bool reached) override { stopped = reached; }

  std::optional<TrainStart> started;
  int64_t steps = 0;
  std::vector<EvaluationPoint> points;
  std::optional<bool> stopped;
  std::function<void(int64_t)> at_step;
};

TEST(Train, StopsAtTheEvaluationThatReachesTheTarget) {
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  Witness witness;
  TrainOptions options = options_for(toy::recipe());
  options.observer = &witness;
  const auto outcome = run(trainer, options);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_TRUE(outcome->reached);
  EXPECT_GE(outcome->quality, 0.95);
  ASSERT_TRUE(outcome->time_to_target_s);
  EXPECT_LT(outcome->steps, 40);
  EXPECT_EQ(outcome->steps % 5, 0);  // two evaluations in ten steps
  EXPECT_EQ(outcome->items, outcome->steps * 40);
  EXPECT_DOUBLE_EQ(outcome->epochs, static_cast<double>(outcome->steps) / 10);
  EXPECT_DOUBLE_EQ(outcome->evaluations.back().seconds, *outcome->time_to_target_s);
  EXPECT_EQ(witness.stopped, true);
  EXPECT_EQ(witness.steps, outcome->steps);
  EXPECT_EQ(witness.points.size(), outcome->evaluations.size());
}

TEST(Train, EndsShortOfATargetItCannotReach) {
  Recipe recipe = toy::recipe();
  recipe.target = 1.01;
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  const auto outcome = run(trainer, options_for(recipe));
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->reached);
  EXPECT_FALSE(outcome->time_to_target_s);
  EXPECT_EQ(outcome->steps, 40);
  EXPECT_EQ(outcome->evaluations.size(), 8U);
  EXPECT_GE(outcome->best_quality, outcome->quality);
  EXPECT_GT(outcome->best_quality, 0.9);
}

TEST(Train, EvaluatesAtTheFractionsOfAnEpochAndAtTheEnd) {
  Recipe recipe = toy::recipe();
  recipe.target = 1.01;
  recipe.epochs = 2.5;
  recipe.evaluations_per_epoch = 0.8;  // every 12.5 steps
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  const auto outcome = run(trainer, options_for(recipe));
  ASSERT_TRUE(outcome.ok());
  std::vector<int64_t> steps;
  for (const EvaluationPoint& point : outcome->evaluations) steps.push_back(point.step);
  EXPECT_THAT(steps, ElementsAre(13, 25));
}

TEST(Train, FollowsTheScheduleStepByStep) {
  Recipe recipe = toy::recipe();
  recipe.target = 1.01;
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  ASSERT_TRUE(run(trainer, options_for(recipe)).ok());
  ASSERT_EQ(trainer.rates.size(), 40U);
  for (size_t step = 0; step < 40; ++step) {
    EXPECT_EQ(trainer.rates[step], recipe.schedule.at(static_cast<int64_t>(step), 40));
  }
}

TEST(Train, GivesTheSameLossesForTheSameSeedBitForBit) {
  ToyTrainer a(OptimizerConfig{}, RandomKey(1));
  ToyTrainer b(OptimizerConfig{}, RandomKey(1));
  ToyTrainer c(OptimizerConfig{}, RandomKey(1));
  const auto first = run(a, options_for(toy::recipe()));
  const auto second = run(b, options_for(toy::recipe()));
  const auto other = run(c, options_for(toy::recipe(), 2));
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(first->loss, second->loss);
  EXPECT_NE(first->loss, other->loss);
}

TEST(Train, ContinuesBitForBitFromAState) {
  Recipe recipe = toy::recipe();
  recipe.target = 1.01;
  ToyTrainer whole(OptimizerConfig{}, RandomKey(1));
  NamedTensors middle;
  Witness witness;
  witness.at_step = [&](int64_t step) {
    if (step == 16) middle = whole.state().value();
  };
  TrainOptions options = options_for(recipe);
  options.observer = &witness;
  const auto all = run(whole, options);
  ASSERT_TRUE(all.ok());

  ToyTrainer resumed(OptimizerConfig{}, RandomKey(99));
  ASSERT_TRUE(resumed.set_state(middle).ok());
  options.observer = nullptr;
  options.first_step = 17;
  const auto rest = run(resumed, options);
  ASSERT_TRUE(rest.ok()) << rest.error().text();
  EXPECT_EQ(rest->steps, 23);
  EXPECT_EQ(std::vector<double>(all->loss.begin() + 17, all->loss.end()), rest->loss);
  const Tensor a = whole.state().value().at("weight");
  const Tensor b = resumed.state().value().at("weight");
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())), 0);
  std::vector<int64_t> steps;
  for (const EvaluationPoint& point : rest->evaluations) steps.push_back(point.step);
  EXPECT_THAT(steps, ElementsAre(20, 25, 30, 35, 40));
}

TEST(Train, GivesNoTimeToTargetToARunItHasNotSeenWhole) {
  Recipe recipe = toy::recipe();
  recipe.target = 0;
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  TrainOptions options = options_for(recipe);
  options.first_step = 7;
  const auto outcome = run(trainer, options);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->reached);
  EXPECT_FALSE(outcome->time_to_target_s);
}

TEST(Train, FailsAtOnceWhenTheLossIsNotANumber) {
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  trainer.nan_at = 3;
  const auto outcome = run(trainer, options_for(toy::recipe()));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kDiverged);
  EXPECT_THAT(outcome.error().message, HasSubstr("diverged"));
  EXPECT_THAT(outcome.error().message, HasSubstr("step 3"));
  EXPECT_EQ(trainer.rates.size(), 4U);  // no step after it
}

TEST(Train, StopsWhenCancelled) {
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  std::atomic<bool> cancel = false;
  Witness witness;
  witness.at_step = [&](int64_t step) { cancel = step == 2; };
  TrainOptions options = options_for(toy::recipe());
  options.cancel = &cancel;
  options.observer = &witness;
  const auto outcome = run(trainer, options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(witness.steps, 3);
  EXPECT_FALSE(witness.stopped);
}

TEST(Train, StopsWhenCancelledDuringAnEvaluation) {
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  std::atomic<bool> cancel = false;
  trainer.on_evaluation_batch = [&] { cancel = true; };
  TrainOptions options = options_for(toy::recipe());
  options.cancel = &cancel;
  const auto outcome = run(trainer, options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(trainer.rates.size(), 5U);
}

TEST(Train, MeasuresSpeedWithoutEvaluationOrTarget) {
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  const ToyTask task;
  const SteadyClock clock;
  TrainOptions options = options_for(toy::recipe());
  options.recipe.target = 0;
  options.max_steps = 57;  // past the schedule, which stays at its end
  const auto outcome = train(trainer, nullptr, task, options, clock);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->steps, 57);
  EXPECT_FALSE(outcome->reached);
  EXPECT_TRUE(outcome->evaluations.empty());
  EXPECT_EQ(outcome->step_time_ns.size(), 57U);
  EXPECT_EQ(outcome->wait_time_ns.size(), 57U);
  EXPECT_EQ(outcome->loss.size(), 57U);
  EXPECT_GT(outcome->throughput_per_s, 0);
}

TEST(Train, AccumulatesPartsToTheStepOfTheWhole) {
  Recipe recipe = toy::recipe();
  recipe.target = 1.01;
  ToyTrainer whole(OptimizerConfig{}, RandomKey(1));
  ToyTrainer parts(OptimizerConfig{}, RandomKey(1));
  ASSERT_TRUE(run(whole, options_for(recipe)).ok());
  TrainOptions options = options_for(recipe);
  options.micro_batches = 4;
  const auto outcome = run(parts, options);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->steps, 40);
  EXPECT_EQ(outcome->items, 1600);
  const Tensor a = whole.state().value().at("weight");
  const Tensor b = parts.state().value().at("weight");
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(a.values<float>()[i], b.values<float>()[i], 1e-4F);
  }
}

TEST(Train, CountsEvaluationsOnTheClockAndKeepsThemOutOfStepTimes) {
  const ToyTask task;
  FakeClock clock;
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  trainer.on_accumulate = [&] { clock.advance(milliseconds(10)); };
  trainer.on_evaluation_batch = [&] { clock.advance(milliseconds(100)); };
  const auto program = trainer.program(task.inference_graph()).value();
  Recipe recipe = toy::recipe();
  recipe.target = 0;  // the first evaluation reaches it
  const auto outcome = train(trainer, program.get(), task, options_for(recipe), clock);
  ASSERT_TRUE(outcome.ok());
  EXPECT_NEAR(*outcome->time_to_target_s, 5 * 0.010 + 3 * 0.100, 1e-9);
  EXPECT_NEAR(outcome->total_s, 0.35, 1e-9);
  EXPECT_NEAR(outcome->engine_s, 0.05, 1e-9);
  EXPECT_NEAR(outcome->evaluation_s, 0.3, 1e-9);
  EXPECT_NEAR(outcome->evaluations[0].duration_s, 0.3, 1e-9);
  EXPECT_NEAR(outcome->wait_s, 0, 1e-9);
  EXPECT_NEAR(outcome->overhead_s, 0, 1e-9);
  EXPECT_THAT(outcome->step_time_ns, ::testing::Each(10e6));
  EXPECT_NEAR(outcome->throughput_per_s, 4000, 1e-6);
}

TEST(Train, CountsTheObserverAsItsOwnCost) {
  const ToyTask task;
  FakeClock clock;
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  trainer.on_accumulate = [&] { clock.advance(milliseconds(9)); };
  Witness witness;
  witness.at_step = [&](int64_t) { clock.advance(milliseconds(1)); };
  TrainOptions options = options_for(toy::recipe());
  options.max_steps = 10;
  options.observer = &witness;
  const auto outcome = train(trainer, nullptr, task, options, clock);
  ASSERT_TRUE(outcome.ok());
  EXPECT_NEAR(outcome->overhead_s, 0.01, 1e-9);
  EXPECT_NEAR(outcome->overhead_share(), 0.1, 1e-9);
}

TEST(Train, RefusesWhatCannotBeTrained) {
  const ToyTask task;
  const SteadyClock clock;
  ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  const auto program = trainer.program(task.inference_graph()).value();
  const auto refusal = [&](const TrainOptions& options, Program* evaluation) {
    const auto outcome = train(trainer, evaluation, task, options, clock);
    EXPECT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::kInvalid);
    return outcome.error().message;
  };
  TrainOptions options = options_for(toy::recipe());
  options.recipe.batch = 401;
  EXPECT_THAT(refusal(options, program.get()), HasSubstr("more than the 400 training items"));
  options = options_for(toy::recipe());
  options.micro_batches = 3;
  EXPECT_THAT(refusal(options, program.get()), HasSubstr("3 equal parts"));
  options = options_for(toy::recipe());
  options.first_step = 40;
  EXPECT_THAT(refusal(options, program.get()), HasSubstr("after step 40 of 40"));
  options = options_for(toy::recipe());
  options.max_steps = 0;
  EXPECT_THAT(refusal(options, program.get()), HasSubstr("no steps"));
  EXPECT_THAT(refusal(options_for(toy::recipe()), nullptr), HasSubstr("evaluation program"));
}

}  // namespace
}  // namespace assay

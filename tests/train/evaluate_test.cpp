// SPDX-License-Identifier: Apache-2.0
#include "train/evaluate.h"

#include <gtest/gtest.h>

#include "train/toy.h"

namespace assay {
namespace {

TEST(Evaluation, SeesEveryItemOnceTheSmallLastBatchIncluded) {
  const toy::ToyTask task;
  const SteadyClock clock;
  toy::ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  int64_t batches = 0;
  trainer.on_evaluation_batch = [&] { ++batches; };
  const auto program = trainer.program(task.inference_graph()).value();
  const auto result = evaluate(*program, task, 50, clock);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result->items, 130);
  EXPECT_EQ(batches, 3);
}

TEST(Evaluation, GivesTheSameQualityForEveryBatchSize) {
  const toy::ToyTask task;
  const SteadyClock clock;
  toy::ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  const auto program = trainer.program(task.inference_graph()).value();
  const double wanted = evaluate(*program, task, 130, clock)->quality;
  for (const int64_t batch : {1, 7, 64, 1000}) {
    EXPECT_EQ(evaluate(*program, task, batch, clock)->quality, wanted) << batch;
  }
}

TEST(Evaluation, AgreesWithCountingByHand) {
  const toy::ToyTask task;
  const SteadyClock clock;
  toy::ToyTrainer trainer(OptimizerConfig{}, RandomKey(3));
  const Tensor weight = trainer.state().value().at("weight");
  int64_t right = 0;
  for (int64_t item = 0; item < toy::kEvaluationItems; ++item) {
    const toy::Point p = toy::point(item, false);
    const bool one = toy::probability_of_one(weight.values<float>(), p.x.data()) > 0.5;
    right += one == (p.label == 1) ? 1 : 0;
  }
  const auto program = trainer.program(task.inference_graph()).value();
  EXPECT_DOUBLE_EQ(evaluate(*program, task, 50, clock)->quality,
                   static_cast<double>(right) / toy::kEvaluationItems);
}

TEST(Evaluation, CanBeRunAgainAfterTrainingMovedOn) {
  const toy::ToyTask task;
  const SteadyClock clock;
  toy::ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  const auto program = trainer.program(task.inference_graph()).value();
  auto evaluation = Evaluation::make(task, 50, clock);
  ASSERT_TRUE(evaluation.ok());
  const double before = evaluation->run(*program)->quality;
  EXPECT_EQ(evaluation->run(*program)->quality, before);
  NamedTensors flipped = trainer.state().value();
  for (float& w : flipped["weight"].values<float>()) w = -w;
  flipped["optimizer.weight.momentum"] = Tensor::zeros(DType::kF32, {2, 2});
  ASSERT_TRUE(trainer.set_state(flipped).ok());
  EXPECT_NEAR(evaluation->run(*program)->quality, 1 - before, 1e-12);
}

TEST(Evaluation, SeparatesTheProgramsTimeFromItsOwn) {
  const toy::ToyTask task;
  FakeClock clock;
  toy::ToyTrainer trainer(OptimizerConfig{}, RandomKey(1));
  trainer.on_evaluation_batch = [&] { clock.advance(std::chrono::milliseconds(20)); };
  const auto program = trainer.program(task.inference_graph()).value();
  const auto result = evaluate(*program, task, 50, clock);
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->engine_s, 0.06, 1e-12);
  EXPECT_NEAR(result->duration_s, 0.06, 1e-12);
}

TEST(Evaluation, RefusesABatchThatIsNotPositive) {
  const toy::ToyTask task;
  const SteadyClock clock;
  EXPECT_FALSE(Evaluation::make(task, 0, clock).ok());
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "data/prefetch.h"

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

struct Script {
  int64_t end = -1;    // false from this step on
  int64_t error = -1;  // an error at this step
  int64_t throws = -1;
  Nanoseconds delay{0};
  std::atomic<int64_t> made{0};
};

// Batches whose only input is a scalar: the step.
class ScriptedSource final : public BatchSource {
 public:
  explicit ScriptedSource(Script& script) : script_(script) {}
  Result<bool> next(Batch& batch) override {
    if (script_.delay.count() > 0) std::this_thread::sleep_for(script_.delay);
    if (step_ == script_.end) return false;
    if (step_ == script_.error) return Error{ErrorCode::kCorrupt, "planted", "item 7"};
    if (step_ == script_.throws) throw std::runtime_error("thrown");
    if (batch.inputs.empty()) batch.inputs.push_back(Tensor::allocate(DType::kF32, {}));
    batch.inputs[0].values<float>()[0] = static_cast<float>(step_);
    batch.items = 1;
    batch.step = step_++;
    ++script_.made;
    return true;
  }
  Result<void> skip_to(int64_t step) override {
    if (step < 0) return Error{ErrorCode::kInvalid, "negative"};
    step_ = step;
    return {};
  }

 private:
  Script& script_;
  int64_t step_ = 0;
};

std::unique_ptr<PrefetchedSource> prefetched(Script& script, int depth = 2) {
  static const SteadyClock clock;
  return std::make_unique<PrefetchedSource>(std::make_unique<ScriptedSource>(script), depth, clock);
}

TEST(PrefetchedSource, GivesTheBatchesOfItsSourceInOrder) {
  Script script;
  script.end = 50;
  auto source = prefetched(script);
  Batch batch;
  for (int64_t step = 0; step < 50; ++step) {
    ASSERT_TRUE(*source->next(batch));
    EXPECT_EQ(batch.step, step);
    EXPECT_EQ(batch.inputs[0].values<float>()[0], static_cast<float>(step));
  }
  EXPECT_FALSE(*source->next(batch));
  EXPECT_FALSE(*source->next(batch));
}

TEST(PrefetchedSource, RunsAheadButNotFurtherThanItsDepth) {
  Script script;
  auto source = prefetched(script, 3);
  Batch batch;
  ASSERT_TRUE(*source->next(batch));
  while (script.made < 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(script.made, 4);  // one taken, three ready
}

TEST(PrefetchedSource, PassesAnErrorOnAfterTheBatchesBeforeIt) {
  Script script;
  script.error = 3;
  auto source = prefetched(script, 8);
  Batch batch;
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(*source->next(batch));
  for (int again = 0; again < 2; ++again) {
    const auto more = source->next(batch);
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(more.error().text(), HasSubstr("planted (item 7)"));
  }
}

TEST(PrefetchedSource, TurnsAnExceptionIntoAnError) {
  Script script;
  script.throws = 0;
  auto source = prefetched(script);
  Batch batch;
  const auto more = source->next(batch);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kInternal);
}

TEST(PrefetchedSource, SkipsToAStepAndForgetsWhatWasReady) {
  Script script;
  script.end = 100;
  auto source = prefetched(script);
  Batch batch;
  ASSERT_TRUE(*source->next(batch));
  ASSERT_TRUE(source->skip_to(98).ok());
  ASSERT_TRUE(*source->next(batch));
  EXPECT_EQ(batch.step, 98);
  ASSERT_TRUE(*source->next(batch));
  EXPECT_FALSE(*source->next(batch));
  ASSERT_TRUE(source->skip_to(10).ok());  // on from the end
  ASSERT_TRUE(*source->next(batch));
  EXPECT_EQ(batch.step, 10);
  EXPECT_FALSE(source->skip_to(-1).ok());
}

TEST(PrefetchedSource, ReusesAFixedSetOfTensors) {
  Script script;
  auto source = prefetched(script, 2);
  std::set<const void*> memory;
  Batch batch;
  for (int step = 0; step < 100; ++step) {
    ASSERT_TRUE(*source->next(batch));
    memory.insert(batch.inputs[0].data());
  }
  EXPECT_LE(memory.size(), 3U);  // two in the ring and the consumer's
}

TEST(PrefetchedSource, CountsTheTimeItsConsumerWaited) {
  Script script;
  script.delay = std::chrono::milliseconds(5);
  auto source = prefetched(script);
  EXPECT_EQ(source->wait_time().count(), 0);
  Batch batch;
  ASSERT_TRUE(*source->next(batch));
  EXPECT_GT(source->wait_time().count(), 0);
}

TEST(PrefetchedSource, EndsCleanlyWhileItsThreadWaitsWorksOrNeverStarted) {
  Script script;
  { const auto never_started = prefetched(script); }
  Batch batch;
  {
    auto full = prefetched(script, 1);
    ASSERT_TRUE(*full->next(batch));
    while (script.made < 2) std::this_thread::yield();
  }
  script.delay = std::chrono::milliseconds(2);
  auto working = prefetched(script, 4);
  ASSERT_TRUE(*working->next(batch));
}

}  // namespace
}  // namespace assay

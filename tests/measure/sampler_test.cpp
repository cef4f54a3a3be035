// SPDX-License-Identifier: Apache-2.0
#include "measure/sampler.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/summary.h"

namespace assay {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A subject that takes as long by the fake clock as it is told.
struct FakeWork {
  FakeClock clock;
  RandomStream random{RandomKey(71)};
  int64_t calls = 0;

  Subject taking(Nanoseconds duration, double noise = 0) {
    return [this, duration, noise]() -> Result<void> {
      ++calls;
      const double length = static_cast<double>(duration.count()) * (1 + noise * random.normal());
      clock.advance(Nanoseconds(static_cast<int64_t>(length)));
      return {};
    };
  }
};

SamplerOptions quick() {
  SamplerOptions options;
  options.stopping.min_time_s = 0.05;
  options.stopping.max_time_s = 2;
  return options;
}

TEST(Sampler, StopsWhenTheNoiseIsSmall) {
  FakeWork work;
  const auto series = sample(work.taking(milliseconds(1), 0.02), work.clock, quick());
  ASSERT_TRUE(series.ok());
  EXPECT_TRUE(series->quiet);
  EXPECT_LE(series->noise, 0.01);
  EXPECT_THAT(series->stop_reason, HasSubstr("is at most 1 %"));
  EXPECT_GE(series->elapsed_s, 0.05);
  EXPECT_LT(series->elapsed_s, 2);
}

TEST(Sampler, StopsWhenNoiseHasConverged) {
  FakeWork work;
  SamplerOptions options = quick();
  options.stopping.max_noise = 1e-4;
  options.stopping.max_time_s = 60;
  const auto series = sample(work.taking(milliseconds(1), 0.2), work.clock, options);
  ASSERT_TRUE(series.ok());
  EXPECT_FALSE(series->quiet);
  EXPECT_THAT(series->stop_reason, StartsWith("the noise has settled"));
  EXPECT_LT(series->elapsed_s, 30);
}

TEST(Sampler, StopsAtTheTimeLimitAndSaysSo) {
  FakeWork work;
  SamplerOptions options = quick();
  options.stopping.max_time_s = 0.1;
  options.stopping.max_noise = 0.05;
  const auto series = sample(work.taking(milliseconds(1), 0.3), work.clock, options);
  EXPECT_FALSE(series->quiet);
  EXPECT_THAT(series->stop_reason, HasSubstr("have passed"));
  EXPECT_NEAR(series->elapsed_s, 0.1, 0.005);
}

TEST(Sampler, WarmsUpBeforeItCounts) {
  FakeWork work;
  int calls = 0;
  const Subject slow_at_first = [&]() -> Result<void> {
    work.clock.advance(++calls <= 20 ? milliseconds(50) : milliseconds(1));
    return {};
  };
  SamplerOptions options = quick();
  options.warmup_time_s = 1.0;
  const auto series = sample(slow_at_first, work.clock, options);
  EXPECT_GE(series->warmup_calls, 20);
  EXPECT_THAT(series->values_ns, Each(1e6));

  options.warmup_time_s = 0;
  options.warmup_calls = 7;
  EXPECT_EQ(sample(work.taking(milliseconds(1)), work.clock, options)->warmup_calls, 7);
}

TEST(Sampler, TimesSeveralCallsAtOnceWhenOneIsTooShortForTheClock) {
  FakeWork work;
  SamplerOptions options = quick();
  options.warmup_time_s = 0.001;
  options.stopping.min_time_s = 0.001;
  const auto series = sample(work.taking(Nanoseconds(20)), work.clock, options);
  ASSERT_TRUE(series.ok());
  EXPECT_EQ(series->calls_per_sample, 250);  // 5 us
  EXPECT_THAT(series->values_ns, Each(20.0));
  EXPECT_THAT(series->marks, Contains(StartsWith("batched: each sample is the mean of 250 calls")));
  EXPECT_EQ(sample(work.taking(microseconds(6)), work.clock, options)->calls_per_sample, 1);
}

TEST(Sampler, EndsEvenWhenTheClockStandsStill) {
  const FakeClock clock;
  SamplerOptions options = quick();
  options.stopping.max_samples = 5;
  const auto series = sample([]() -> Result<void> { return {}; }, clock, options);
  ASSERT_TRUE(series.ok());
  EXPECT_EQ(series->values_ns.size(), 5U);
}

TEST(Sampler, ReturnsTheErrorOfItsSubject) {
  FakeWork work;
  int calls = 0;
  const Subject failing = [&]() -> Result<void> {
    work.clock.advance(milliseconds(10));
    if (++calls == 15) return Error{ErrorCode::kDiverged, "loss is NaN", "step 15"};
    return {};
  };
  const auto series = sample(failing, work.clock, quick());
  ASSERT_FALSE(series.ok());
  EXPECT_EQ(series.error().text(), "loss is NaN (step 15)");
  EXPECT_EQ(calls, 15);
}

TEST(Sampler, KeepsEverySampleInOrderAndMarksDriftAndOutliers) {
  FakeWork work;
  int calls = 0;
  const Subject drifting = [&]() -> Result<void> {
    ++calls;
    work.clock.advance(milliseconds(10) + microseconds(100) * calls);
    if (calls == 50) work.clock.advance(milliseconds(500));
    return {};
  };
  SamplerOptions options = quick();
  options.stopping.max_time_s = 2;
  options.stopping.max_noise = 1e-3;
  const auto series = sample(drifting, work.clock, options);
  ASSERT_TRUE(series.ok());
  EXPECT_THAT(series->marks, Contains(StartsWith("drift: +")));
  EXPECT_THAT(series->marks, Contains(StartsWith("outliers: 1 of")));
  EXPECT_LT(series->values_ns[0], series->values_ns[5]);
}

TEST(Sampler, MarksContention) {
  FakeWork work;
  const ContentionProbe probe(work.clock,
                              {[](const std::string& path) -> Result<std::string> {
                                 return Error{ErrorCode::kNotFound, "no such file", path};
                               },
                               [&work] { return work.clock.now() / 2; }});  // half of the processor
  const auto series = sample(work.taking(milliseconds(1)), work.clock, quick(), &probe);
  EXPECT_THAT(series->marks, Contains(StartsWith("contended: the process got 0.50")));
  EXPECT_EQ(series->missing.count("cpu_pressure"), 1U);
}

TEST(Interleave, GivesEverySubjectOneSampleARoundInRandomOrder) {
  FakeWork work;
  std::string order;
  const auto named = [&](char name, Nanoseconds duration) {
    return NamedSubject{std::string(1, name), [&work, &order, name, duration]() -> Result<void> {
                          order += name;
                          work.clock.advance(duration);
                          return {};
                        }};
  };
  const std::vector<NamedSubject> subjects = {
      named('a', milliseconds(1)), named('b', milliseconds(2)), named('c', milliseconds(3))};
  SamplerOptions options = quick();
  options.warmup_time_s = 0;
  options.warmup_calls = 1;
  options.stopping.min_samples = 60;
  const auto all = interleave(subjects, work.clock, options, RandomKey(3));
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[1].name, "b");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*all)[i].values_ns.size(), 60U);
    EXPECT_THAT((*all)[i].values_ns, Each(1e6 * static_cast<double>(i + 1)));
  }
  std::set<std::string> orders;
  for (size_t at = 3; at < order.size(); at += 3) {  // after the warm-up
    std::string round = order.substr(at, 3);
    orders.insert(round);
    std::sort(round.begin(), round.end());
    EXPECT_EQ(round, "abc");
  }
  EXPECT_EQ(orders.size(), 6U);  // every order has come up
}

TEST(Interleave, GoesOnUntilTheNoisiestIsQuiet) {
  FakeWork work;
  const std::vector<NamedSubject> subjects = {{"quiet", work.taking(milliseconds(1))},
                                              {"noisy", work.taking(milliseconds(1), 0.05)}};
  const auto all = interleave(subjects, work.clock, quick(), RandomKey(4));
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE((*all)[1].quiet);
  EXPECT_GT((*all)[1].values_ns.size(), 50U);
  EXPECT_EQ((*all)[0].values_ns.size(), (*all)[1].values_ns.size());
}

TEST(AddSeries, FillsTheFieldsOfARecord) {
  FakeWork work;
  SamplerOptions options = quick();
  options.stopping.min_samples = 400;
  const auto series = sample(work.taking(milliseconds(1), 0.05), work.clock, options);
  Record record;
  record.status = Status::kMeasured;
  add_series(record, "latency", *series);
  EXPECT_EQ(record.status, Status::kMeasured);
  ASSERT_NE(record.metric("latency_mean_ns"), nullptr);
  EXPECT_NEAR(record.metric("latency_mean_ns")->value, 1e6, 1e4);
  EXPECT_EQ(record.metric("latency_mean_ns")->interval->method, "batch-means");
  EXPECT_NE(record.metric("latency_p99_ns"), nullptr);
  EXPECT_EQ(record.metric("latency_p99_9_ns"), nullptr);
  EXPECT_THAT(record.missing.at("latency_p99_9_ns"), HasSubstr("needs at least 3688 samples"));
  EXPECT_EQ(record.samples_named("latency_ns")->values, series->values_ns);
  EXPECT_EQ(record.facts.at("latency_stop_reason"), series->stop_reason);
}

TEST(AddSeries, CallsANoisySeriesNoisy) {
  SampleSeries series;
  series.values_ns = {1, 2, 3};
  series.quiet = false;
  series.stop_reason = "10 s have passed; noise 9 % is above 1 %";
  Record record;
  record.status = Status::kMeasured;
  add_series(record, "latency", series);
  EXPECT_EQ(record.status, Status::kNoisy);
  EXPECT_EQ(record.reason, series.stop_reason);

  Record failed;
  failed.status = Status::kFailed;
  add_series(failed, "latency", series);
  EXPECT_EQ(failed.status, Status::kFailed);
}

TEST(AddPercentiles, NamesWhatNoSamplesCanTell) {
  Record record;
  add_percentiles(record, "step", {});
  EXPECT_TRUE(record.metrics.empty());
  EXPECT_EQ(record.missing.at("step_mean_ns"), "no samples");
  EXPECT_THAT(record.missing.at("step_p50_ns"), HasSubstr("needs at least 6 samples"));
}

}  // namespace
}  // namespace assay

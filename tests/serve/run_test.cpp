// SPDX-License-Identifier: Apache-2.0
#include "serve/run.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/fakes.h"

namespace assay {
namespace {

using fake::ms;
using fake::us;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LoadSettings settings(Scenario scenario) {
  LoadSettings asked;
  asked.scenario = scenario;
  asked.min_duration = std::chrono::seconds(1);
  return asked;
}

std::string remark(const LoadReport& report) {
  return report.remarks.empty() ? "" : report.remarks.front().text;
}

class LoadRun : public ::testing::Test {
 protected:
  LoadReport run(SystemUnderTest& system, const LoadSettings& asked) {
    auto report = run_load(system, library_, asked, clock_, fake::told());
    EXPECT_TRUE(report.ok()) << report.error().text();
    return std::move(report).value();
  }
  fake::EventClock clock_;
  fake::Library library_{64};
};

TEST_F(LoadRun, ASingleStreamEndsWhenTimeAndQueriesAreEnough) {
  fake::Immediate system(clock_, [](size_t) { return ms(1); });
  const LoadReport report = run(system, settings(Scenario::kSingleStream));
  EXPECT_EQ(report.times.queries, 1001);  // the first issue at or after 1 s ends it
  EXPECT_THAT(report.times.latency_ns, Each(1'000'000));
  EXPECT_DOUBLE_EQ(report.verdict->queries_per_s, 1000);
  EXPECT_DOUBLE_EQ(report.verdict->queries_per_s_system, 1000);
  EXPECT_TRUE(report.valid());
  EXPECT_EQ(system.drained, 1);
  EXPECT_THAT(report.remarks, IsEmpty());
}

TEST_F(LoadRun, ASingleStreamNeedsItsMinimumOfQueriesHoweverLongTheyTake) {
  fake::Immediate system(clock_, [](size_t) { return ms(50); });
  const LoadReport report = run(system, settings(Scenario::kSingleStream));
  EXPECT_EQ(report.times.queries, 100);
}

TEST_F(LoadRun, ASystemFasterThanTwiceTheExpectationIsInvalidAndTold) {
  fake::Immediate system(clock_, [](size_t) { return us(100); });
  const LoadReport report = run(system, settings(Scenario::kSingleStream));
  EXPECT_FALSE(report.valid());
  EXPECT_FALSE(report.verdict->min_duration_met);
  EXPECT_THAT(remark(report), HasSubstr("ran out"));
}

TEST_F(LoadRun, ALimitOfQueriesOrTimeEndsIt) {
  fake::Immediate system(clock_, [](size_t) { return ms(1); });
  LoadSettings asked = settings(Scenario::kSingleStream);
  asked.max_query_count = 50;
  EXPECT_EQ(run(system, asked).times.queries, 50);
  asked.max_query_count = 0;
  asked.max_duration = std::chrono::milliseconds(200);
  const LoadReport report = run(system, asked);
  EXPECT_EQ(report.times.queries, 202);
  EXPECT_FALSE(report.valid());
  EXPECT_THAT(remark(report), HasSubstr("max_duration of 200 ms"));
}

TEST_F(LoadRun, AMultiStreamQueryHasAllItsSamplesAndWaitsForThem) {
  fake::Queue system(clock_, ms(1));
  LoadSettings asked = settings(Scenario::kMultiStream);
  asked.min_query_count = 10;
  asked.min_duration = std::chrono::milliseconds(0);
  // The queue answers only while its clock runs; a thread of its own would do the same.
  class Driven final : public SystemUnderTest {
   public:
    Driven(fake::Queue& queue, fake::EventClock& clock) : queue_(queue), clock_(clock) {}
    std::string name() const override { return "driven"; }
    Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
      ASSAY_TRY(queue_.issue(query, done));
      clock_.run_all();
      return {};
    }
    Result<void> drain() override { return {}; }
    void abandon() override {}

   private:
    fake::Queue& queue_;
    fake::EventClock& clock_;
  };
  Driven driven(system, clock_);
  const LoadReport report = run(driven, asked);
  EXPECT_EQ(report.times.queries, 10);
  EXPECT_EQ(report.verdict->samples, 80);
  EXPECT_EQ(report.verdict->query_latency.max_ns, 8'000'000);
  EXPECT_EQ(report.verdict->sample_latency.min_ns, 1'000'000);
}

TEST_F(LoadRun, AServerQueryWaitsFromItsArrivalNotFromItsIssue) {
  fake::Immediate slow(clock_, [](size_t query) { return query == 0 ? ms(100) : us(1); });
  LoadSettings asked = settings(Scenario::kServer);
  asked.server_target_qps = 1000;
  asked.server_target_latency = ms(200);
  const LoadReport report = run(slow, asked);
  EXPECT_EQ(report.times.latency_ns[0], 100'000'000);
  // The second query came 0.9 ms after the first and was issued when that was done.
  EXPECT_EQ(report.issue_delay_ns[1], 100'000'000 - 898'560);
  EXPECT_EQ(report.times.latency_ns[1], 100'000'000 - 898'560 + 1000);
  EXPECT_EQ(report.issue_delay_ns.back(), 0);
  EXPECT_TRUE(report.valid());
}

TEST_F(LoadRun, AServerBelowItsCapacityIsValid) {
  fake::Queue system(clock_, us(500));
  LoadSettings asked = settings(Scenario::kServer);
  asked.server_target_qps = 1000;
  asked.server_target_latency = ms(10);
  const LoadReport report = run(system, asked);
  EXPECT_TRUE(report.valid()) << report.verdict->target_percentile_ns;
  EXPECT_THAT(report.issue_delay_ns, Each(0));
  EXPECT_EQ(report.times.latency_ns[0], 500'000);
}

TEST_F(LoadRun, ARateFarBeyondCapacityEndsSoonInvalidAndSaysWhy) {
  fake::Queue system(clock_, ms(10));
  LoadSettings asked = settings(Scenario::kServer);
  asked.server_target_qps = 10'000;  // 100 times too fast: draining the minute would take hours
  asked.server_target_latency = ms(20);
  asked.min_duration = std::chrono::minutes(1);
  const Nanoseconds before = clock_.now();
  const LoadReport report = run(system, asked);
  EXPECT_FALSE(report.valid());
  EXPECT_LT(clock_.now() - before, std::chrono::seconds(2));
  EXPECT_EQ(system.abandoned, 1);
  EXPECT_GT(report.unanswered, 5000);
  EXPECT_THAT(remark(report), HasSubstr("given up after"));
}

TEST_F(LoadRun, NoRunIsGivenUpThatCouldStillBeValid) {
  // 1 % of all queries may be late; here a hiccup makes nearly so many late.
  fake::Immediate system(clock_, [](size_t query) { return query == 1000 ? ms(60) : us(1); });
  LoadSettings asked = settings(Scenario::kServer);
  asked.server_target_qps = 1000;
  asked.server_target_latency = ms(10);
  asked.min_duration = std::chrono::seconds(10);
  const LoadReport report = run(system, asked);
  EXPECT_GT(report.verdict->over_latency, 20);
  EXPECT_TRUE(report.valid());
  EXPECT_EQ(report.unanswered, 0);
}

TEST_F(LoadRun, TooManyUnansweredQueriesEndAServerRun) {
  fake::Queue system(clock_, ms(10));
  LoadSettings asked = settings(Scenario::kServer);
  asked.server_target_qps = 1000;
  asked.server_max_async_queries = 5;
  const LoadReport report = run(system, asked);
  EXPECT_FALSE(report.valid());
  EXPECT_EQ(report.times.queries, 6);
  EXPECT_EQ(report.unanswered, 0);  // they were waited for
  EXPECT_THAT(remark(report), HasSubstr("max_async_queries is 5"));
}

TEST_F(LoadRun, OverdueQueriesAreIssuedTogetherWhenAsked) {
  const auto service = [](size_t query) { return query == 0 ? ms(10) : us(1); };
  LoadSettings asked = settings(Scenario::kServer);
  asked.server_target_qps = 1000;
  fake::Immediate one_by_one(clock_, service);
  const LoadReport alone = run(one_by_one, asked);
  asked.server_coalesce_queries = true;
  fake::Immediate together(clock_, service);
  const LoadReport merged = run(together, asked);
  EXPECT_EQ(alone.times.queries, merged.times.queries);
  EXPECT_EQ(one_by_one.issued.size(), static_cast<size_t>(alone.times.queries));
  EXPECT_GT(together.issued[1].size(), 3U);
  EXPECT_EQ(merged.times.last_scheduled, alone.times.last_scheduled);
}

TEST_F(LoadRun, OfflineIsOneQueryAndItsRateIsThatOfTheLastSample) {
  fake::Queue system(clock_, us(250));
  LoadSettings asked = settings(Scenario::kOffline);
  asked.offline_expected_qps = 4000;
  const LoadReport report = run(system, asked);
  EXPECT_EQ(system.calls, 1);
  EXPECT_EQ(report.verdict->samples, 4400);
  EXPECT_DOUBLE_EQ(report.verdict->samples_per_s, 4000);
  EXPECT_TRUE(report.valid());
}

TEST_F(LoadRun, AccuracyAsksForEverySampleOnceInSetsThatFit) {
  fake::Library library(100, 32);
  class Echo final : public SystemUnderTest {
   public:
    std::string name() const override { return "echo"; }
    Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
      for (const QuerySample& sample : query) {
        const QueryResponse response{sample.id, std::as_bytes(std::span(&sample.index, 1))};
        done.complete(std::span(&response, 1));
      }
      return {};
    }
    Result<void> drain() override { return {}; }
    void abandon() override {}
  };
  for (const Scenario scenario : {Scenario::kSingleStream, Scenario::kOffline}) {
    Echo system;
    LoadSettings asked = settings(scenario);
    asked.mode = LoadMode::kAccuracy;
    const LoadReport report = run_load(system, library, asked, clock_, fake::told()).value();
    std::set<uint32_t> seen;
    uint32_t sequence = 0;
    for (const LoggedResponse& response : report.responses) {
      EXPECT_EQ(response.sequence, sequence++);
      uint32_t index = 0;
      ASSERT_EQ(response.data.size(), sizeof(index));
      std::copy(response.data.begin(), response.data.end(), reinterpret_cast<char*>(&index));
      EXPECT_EQ(response.index, index);
      seen.insert(index);
    }
    EXPECT_EQ(seen.size(), 100U);
    EXPECT_EQ(report.responses.size(), 100U);
    EXPECT_EQ(report.sets.size(), 4U);
    EXPECT_FALSE(report.verdict.has_value());
  }
  EXPECT_EQ(library.most_held, 32U);
  EXPECT_EQ(library.loaded_twice, 0);
  EXPECT_TRUE(library.held.empty());
}

TEST_F(LoadRun, APerformanceRunKeepsTheShareOfResponsesAskedFor) {
  fake::Immediate system(clock_, [](size_t) { return ms(1); });
  LoadSettings asked = settings(Scenario::kSingleStream);
  asked.min_duration = std::chrono::milliseconds(0);
  asked.accuracy_log_probability = 0.1;
  const LoadReport report = run(system, asked);
  EXPECT_EQ(report.responses.size(), 10U);
  EXPECT_EQ(report.responses.front().sequence, 19U);
}

TEST_F(LoadRun, AShortRunIsUnofficialAndSaysWhy) {
  fake::Immediate system(clock_, [](size_t) { return ms(1); });
  EXPECT_THAT(run(system, settings(Scenario::kSingleStream)).unofficial,
              Contains(HasSubstr("min_duration is 1 s")));
}

TEST_F(LoadRun, AWallClockThatWasSetIsToldAndHarmsNoLatency) {
  fake::Immediate system(clock_, [this](size_t query) {
    if (query == 500) clock_.wall_step = std::chrono::hours(1);
    return ms(1);
  });
  const LoadReport report = run(system, settings(Scenario::kSingleStream));
  EXPECT_THAT(report.times.latency_ns, Each(1'000'000));
  EXPECT_THAT(remark(report), HasSubstr("wall clock moved by 3600 s"));
}

TEST_F(LoadRun, ItCanBeCancelled) {
  fake::Immediate system(clock_, [](size_t) { return ms(1); });
  LoadOptions options = fake::told();
  options.cancelled = [&] { return system.issued.size() >= 10; };
  const auto report =
      run_load(system, library_, settings(Scenario::kSingleStream), clock_, options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(system.issued.size(), 10U);
  EXPECT_EQ(system.abandoned, 1);
  EXPECT_TRUE(library_.held.empty());
}

TEST_F(LoadRun, PeakIsTheLastRateThatIsSustained) {
  fake::Queue system(clock_, ms(1));  // 1000 a second when it never idles
  LoadSettings asked = settings(Scenario::kServer);
  asked.mode = LoadMode::kFindPeak;
  asked.server_target_qps = 100;
  asked.server_target_latency = ms(10);
  asked.min_duration = std::chrono::seconds(20);
  asked.server_find_peak_decimals = 0;
  const auto peak = find_peak(system, library_, asked, clock_, fake::told());
  ASSERT_TRUE(peak.ok()) << peak.error().text();
  EXPECT_GT(peak->rate, 500);
  EXPECT_LT(peak->rate, 1000);
  EXPECT_TRUE(peak->best.valid());
  EXPECT_EQ(peak->best.asked.server_target_qps, peak->rate);
  EXPECT_THAT(peak->tries, Contains(::testing::AllOf(Field(&PeakTry::rate, peak->rate + 1),
                                                     Field(&PeakTry::valid, false))));
}

TEST_F(LoadRun, PeakStartsFromARateThatHolds) {
  fake::Queue system(clock_, ms(10));
  LoadSettings asked = settings(Scenario::kServer);
  asked.mode = LoadMode::kFindPeak;
  asked.server_target_qps = 1000;
  const auto peak = find_peak(system, library_, asked, clock_, fake::told());
  ASSERT_FALSE(peak.ok());
  EXPECT_THAT(peak.error().text(), HasSubstr("already 1000 queries a second are not sustained"));
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong in a load test, and waiting in real time.
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/fakes.h"
#include "serve/run.h"

namespace assay {
namespace {

using fake::ms;
using fake::us;
using ::testing::Ge;
using ::testing::HasSubstr;

// Answers as a function says.
class Faulty final : public SystemUnderTest {
 public:
  using Answer = std::function<Result<void>(std::span<const QuerySample>, Completions&)>;
  explicit Faulty(Answer answer) : answer_(std::move(answer)) {}
  std::string name() const override { return "faulty"; }
  Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
    return answer_(query, done);
  }
  Result<void> drain() override { return {}; }
  void abandon() override { abandoned = true; }
  bool abandoned = false;

 private:
  Answer answer_;
};

LoadSettings short_run(Scenario scenario) {
  LoadSettings asked;
  asked.scenario = scenario;
  asked.min_duration = std::chrono::milliseconds(0);
  asked.server_target_qps = 1000;
  return asked;
}

Error error_of(const Faulty::Answer& answer, Scenario scenario = Scenario::kSingleStream) {
  const fake::EventClock clock;
  fake::Library library(64);
  Faulty system(answer);
  const auto report = run_load(system, library, short_run(scenario), clock, fake::told());
  EXPECT_FALSE(report.ok());
  EXPECT_TRUE(library.held.empty());
  return report.ok() ? Error{} : report.error();
}

TEST(LoadFaults, AnErrorOfTheSystemEndsTheRun) {
  int queries = 0;
  const Error error = error_of([&](std::span<const QuerySample> query, Completions& done) {
    if (++queries == 10) return Result<void>(Error{ErrorCode::kOutOfMemory, "no room", "engine"});
    done.complete(query);
    return Result<void>();
  });
  EXPECT_EQ(error.code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(queries, 10);
}

TEST(LoadFaults, AnErrorFromAnotherThreadEndsTheRun) {
  for (const Scenario scenario : {Scenario::kSingleStream, Scenario::kServer}) {
    const Error error = error_of(
        [](std::span<const QuerySample>, Completions& done) {
          std::thread([&done] { done.fail({ErrorCode::kCrashed, "gone", "worker"}); }).join();
          return Result<void>();
        },
        scenario);
    EXPECT_EQ(error.code, ErrorCode::kCrashed);
  }
}

TEST(LoadFaults, ASampleAnsweredTwiceIsNoticed) {
  const Error error = error_of([](std::span<const QuerySample> query, Completions& done) {
    done.complete(query);
    done.complete(query);
    return Result<void>();
  });
  EXPECT_THAT(error.text(), HasSubstr("sample 0 was answered twice"));
}

TEST(LoadFaults, AnAnswerToNoQuestionIsNoticed) {
  const Error error = error_of([](std::span<const QuerySample>, Completions& done) {
    const QuerySample other{4'000'000'000U, 0};
    done.complete(std::span(&other, 1));
    return Result<void>();
  });
  EXPECT_THAT(error.text(), HasSubstr("4000000000, which was not asked"));
}

TEST(LoadFaults, AnAnswerBeforeTheQuestionIsNoticed) {
  const Error error = error_of(
      [](std::span<const QuerySample> query, Completions& done) {
        done.complete(query);
        const QuerySample next{query.front().id + 1, 0};
        if (next.id == 1) done.complete(std::span(&next, 1));
        return Result<void>();
      },
      Scenario::kServer);
  EXPECT_THAT(error.text(), HasSubstr("sample 1 was answered twice"));
}

TEST(LoadFaults, LostSamplesAreNoticed) {
  const Error error = error_of(
      [](std::span<const QuerySample> query, Completions& done) {
        if (query.front().id != 7) done.complete(query);
        return Result<void>();
      },
      Scenario::kServer);
  EXPECT_THAT(error.text(), HasSubstr("1 of 100 samples were never answered"));
}

TEST(LoadFaults, ALibraryThatCannotLoadEndsTheRun) {
  const fake::EventClock clock;
  fake::Library library(64);
  library.refuses = true;
  fake::Immediate system(clock, [](size_t) { return ms(1); });
  const auto report = run_load(system, library, short_run(Scenario::kServer), clock, fake::told());
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().text(), HasSubstr("the disk is gone"));
  EXPECT_TRUE(system.issued.empty());
}

// A system with a thread of its own, in real time.
class Threaded final : public SystemUnderTest {
 public:
  ~Threaded() override { join(); }
  std::string name() const override { return "threaded"; }
  Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
    join();
    thread_ = std::thread([copy = std::vector(query.begin(), query.end()), &done] {
      for (const QuerySample& sample : copy) done.complete(std::span(&sample, 1));
    });
    return {};
  }
  Result<void> drain() override {
    join();
    return {};
  }
  void abandon() override { join(); }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::thread thread_;
};

TEST(LoadFaults, AnswersMayComeFromOtherThreads) {
  const SteadyClock clock;
  fake::Library library(64);
  for (const Scenario scenario :
       {Scenario::kSingleStream, Scenario::kMultiStream, Scenario::kServer, Scenario::kOffline}) {
    Threaded system;
    LoadSettings asked = short_run(scenario);
    asked.server_target_latency = std::chrono::seconds(100);
    asked.server_percentile = 0.9;
    const auto report = run_load(system, library, asked, clock);
    ASSERT_TRUE(report.ok()) << report.error().text();
    EXPECT_TRUE(report->verdict->min_queries_met);
    EXPECT_GT(report->verdict->sample_latency.min_ns, 0);
    EXPECT_THAT(report->issue_delay_ns, ::testing::Each(Ge(0)));
  }
}

TEST(WaitUntil, SleepsFirstAndSpinsTheRest) {
  // Every look at this clock takes a microsecond; a sleep ends late.
  class Coarse final : public Clock {
   public:
    Nanoseconds now() const override { return now_ += us(1); }
    std::chrono::milliseconds unix_time() const override { return {}; }
    void sleep(Nanoseconds duration) const override {
      slept += duration;
      now_ += duration + us(50);
    }
    mutable Nanoseconds slept{0};

   private:
    mutable Nanoseconds now_{0};
  };
  const Coarse clock;
  wait_until(clock, ms(1), us(60));
  EXPECT_EQ(clock.slept, us(939));  // 1 ms less the look at the clock and the spin
  EXPECT_GE(clock.now(), ms(1));
  EXPECT_LE(clock.now(), ms(1) + us(3));
  wait_until(clock, us(5), us(60));  // long ago
  EXPECT_EQ(clock.slept, us(939));
}

struct Refused {
  const char* what;
  std::function<void(LoadSettings&)> change;
  const char* message;
};

class BadSettings : public ::testing::TestWithParam<Refused> {};

TEST_P(BadSettings, AreRefusedByName) {
  LoadSettings asked;
  asked.scenario = Scenario::kServer;
  GetParam().change(asked);
  const auto effective = derive(asked, 64, 64);
  ASSERT_FALSE(effective.ok());
  EXPECT_EQ(effective.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(effective.error().text(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSettings,
    ::testing::Values(
        Refused{"zero rate", [](auto& s) { s.server_target_qps = 0; }, "rate of 0"},
        Refused{"negative rate", [](auto& s) { s.server_target_qps = -5; }, "target_qps"},
        Refused{"no rate", [](auto& s) { s.server_target_qps = NAN; }, "target_qps"},
        Refused{"offline rate",
                [](auto& s) {
                  s.scenario = Scenario::kOffline;
                  s.offline_expected_qps = 0;
                },
                "target_qps"},
        Refused{"percentile of 1", [](auto& s) { s.server_percentile = 1; }, "percentile 1"},
        Refused{"no limit", [](auto& s) { s.server_target_latency = ms(0); }, "target_latency"},
        Refused{"no queries", [](auto& s) { s.min_query_count = 0; }, "min_query_count"},
        Refused{"negative time", [](auto& s) { s.min_duration = std::chrono::milliseconds(-1); },
                "min_duration"},
        Refused{"too long a schedule", [](auto& s) { s.server_target_qps = 1e12; }, "2147483648"},
        Refused{"both audits",
                [](auto& s) { s.performance_issue_unique = s.performance_issue_same = true; },
                "exclude each other"},
        Refused{"a sample beyond",
                [](auto& s) {
                  s.performance_issue_same = true;
                  s.performance_issue_same_index = 64;
                },
                "no sample 64"},
        Refused{"probability", [](auto& s) { s.accuracy_log_probability = 1.5; }, "probability"},
        Refused{"more samples a query than there are",
                [](auto& s) {
                  s.scenario = Scenario::kMultiStream;
                  s.multi_stream_samples_per_query = 65;
                },
                "cannot fill"},
        Refused{"peak of a stream",
                [](auto& s) {
                  s.scenario = Scenario::kSingleStream;
                  s.mode = LoadMode::kFindPeak;
                },
                "only the server"}));

TEST(BadSettings, ALibraryOfNothingIsRefused) {
  EXPECT_THAT(derive({}, 0, 0).error().text(), HasSubstr("samples of the library"));
}

TEST(LoadSettings, ScenariosHaveTwoNames) {
  EXPECT_EQ(scenario_of("single-stream"), Scenario::kSingleStream);
  EXPECT_EQ(scenario_of("Offline"), Scenario::kOffline);
  EXPECT_EQ(scenario_of("serve"), std::nullopt);
}

TEST(LoadSettings, AnOfficialRunHasNoReasonNotToBe) {
  LoadSettings asked;
  asked.scenario = Scenario::kServer;
  asked.server_target_qps = 100;
  asked.min_duration = std::chrono::seconds(600);
  asked.qsl_rng_seed = 2085463073848966840ULL;
  asked.sample_index_rng_seed = 2747215439041700203ULL;
  asked.schedule_rng_seed = 16159082839903944936ULL;
  EXPECT_TRUE(unofficial_reasons(asked, derive(asked, 64, 64).value()).empty());
  asked.schedule_rng_seed = 0;
  EXPECT_EQ(unofficial_reasons(asked, derive(asked, 64, 64).value()).size(), 1U);
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "mlperf/load_config.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/golden.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LoadConfig config(const std::string& text, ConfigSource source = ConfigSource::kUser) {
  auto result = LoadConfig::parse(text, "user.conf", source);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return std::move(result).value();
}

class FromConfig : public ::testing::TestWithParam<size_t> {};

TEST_P(FromConfig, SettingsAreThoseOfLoadGen) {
  static const Json kRows = golden::load("configurations.json");
  const Json& row = kRows[GetParam()];
  const auto model = row["model"].get<std::string>();
  LoadSettings ours;
  ours.scenario = scenario_of(row["scenario"].get<std::string>()).value();
  ASSERT_TRUE(LoadConfig::rules_v6_1().apply(model, ours).ok());
  ASSERT_TRUE(config(row["text"].get<std::string>()).apply(model, ours).ok());
  const Json& theirs = row["requested"];
  Json asked = theirs;
  asked["mode"] = theirs["test_mode"];
  const LoadSettings wanted = golden::settings(asked);
  EXPECT_EQ(ours.single_stream_expected_latency, wanted.single_stream_expected_latency);
  EXPECT_NEAR(ours.single_stream_percentile, wanted.single_stream_percentile, 1e-9);
  EXPECT_EQ(ours.multi_stream_expected_latency, wanted.multi_stream_expected_latency);
  EXPECT_NEAR(ours.multi_stream_percentile, wanted.multi_stream_percentile, 1e-9);
  EXPECT_EQ(ours.multi_stream_samples_per_query, wanted.multi_stream_samples_per_query);
  EXPECT_EQ(ours.server_target_qps, wanted.server_target_qps);
  EXPECT_EQ(ours.server_target_latency, wanted.server_target_latency);
  EXPECT_NEAR(ours.server_percentile, wanted.server_percentile, 1e-9);
  EXPECT_EQ(ours.server_coalesce_queries, wanted.server_coalesce_queries);
  if (theirs.contains("server_max_async_queries")) {
    EXPECT_EQ(ours.server_max_async_queries, theirs["server_max_async_queries"]);
  }
  EXPECT_EQ(ours.offline_expected_qps, wanted.offline_expected_qps);
  EXPECT_EQ(ours.min_duration, wanted.min_duration);
  EXPECT_EQ(ours.min_query_count, wanted.min_query_count);
  EXPECT_EQ(ours.qsl_rng_seed, wanted.qsl_rng_seed);
  EXPECT_EQ(ours.sample_index_rng_seed, wanted.sample_index_rng_seed);
  EXPECT_EQ(ours.schedule_rng_seed, wanted.schedule_rng_seed);
  EXPECT_EQ(ours.accuracy_log_probability, wanted.accuracy_log_probability);
  EXPECT_EQ(ours.accuracy_log_sampling_target, wanted.accuracy_log_sampling_target);
  EXPECT_EQ(ours.performance_issue_same, wanted.performance_issue_same);
  EXPECT_EQ(ours.performance_issue_same_index, wanted.performance_issue_same_index);
  EXPECT_EQ(ours.performance_sample_count_override, wanted.performance_sample_count_override);
}

INSTANTIATE_TEST_SUITE_P(Files, FromConfig, ::testing::Range<size_t>(0, 15));

TEST(LoadConfig, AModelThatCountsTokensIsRefused) {
  LoadSettings settings;
  const auto notes = LoadConfig::rules_v6_1().apply("llama2-70b", settings);
  ASSERT_FALSE(notes.ok());
  EXPECT_EQ(notes.error().code, ErrorCode::kUnsupported);
}

TEST(LoadConfig, TheMoreExactLineWins) {
  LoadSettings settings;
  settings.scenario = Scenario::kServer;
  const std::string any = "*.*.min_duration = 1\n";
  const std::string model = "bert.*.min_duration = 2\n";
  const std::string scenario = "*.Server.min_duration = 3\n";
  const std::string both = "bert.Server.min_duration = 4\n";
  const auto duration = [&](const std::string& text) {
    EXPECT_TRUE(config(text).apply("bert", settings).ok());
    return settings.min_duration.count();
  };
  EXPECT_EQ(duration(both + scenario + model + any), 4);
  EXPECT_EQ(duration(scenario + model + any), 3);
  EXPECT_EQ(duration(model + any), 2);
  EXPECT_EQ(duration(any), 1);
}

TEST(LoadConfig, LinesOfOtherModelsAndScenariosDoNotMatter) {
  LoadSettings settings;
  ASSERT_TRUE(config("bert.*.min_duration = 2\n*.Server.min_query_count = 3\n"
                     "bert-99.9.Offline.nonsense = 1\n")
                  .apply("resnet50", settings)
                  .ok());
  EXPECT_EQ(settings.min_duration.count(), 10'000);
  EXPECT_EQ(settings.min_query_count, 100);
}

TEST(LoadConfig, AModelNameMayHoldADot) {
  LoadSettings settings;
  ASSERT_TRUE(
      config("bert-99.9.SingleStream.min_duration = 7\n").apply("bert-99.9", settings).ok());
  EXPECT_EQ(settings.min_duration.count(), 7);
}

TEST(LoadConfig, SeedsOfAUserAreNotObeyedAndThatIsTold) {
  LoadSettings settings;
  const auto notes =
      config("*.*.qsl_rng_seed = 7\n*.*.accuracy_log_probability = 0.5\n", ConfigSource::kAudit)
          .apply("resnet50", settings);
  ASSERT_TRUE(notes.ok());
  EXPECT_EQ(settings.qsl_rng_seed, 0U);
  EXPECT_THAT(*notes, Contains(HasSubstr("qsl_rng_seed is obeyed from mlperf.conf only")));
  EXPECT_THAT(*notes, Contains(HasSubstr("accuracy_log_probability is obeyed")));
  ASSERT_TRUE(
      config("*.*.qsl_rng_seed = 0x7\n", ConfigSource::kRules).apply("resnet50", settings).ok());
  EXPECT_EQ(settings.qsl_rng_seed, 7U);
}

TEST(LoadConfig, ALimitIsCutToMillisecondsAndThatIsTold) {
  LoadSettings settings;
  settings.scenario = Scenario::kServer;
  const auto notes = config("*.Server.target_latency = 12.5\n").apply("x", settings);
  EXPECT_EQ(settings.server_target_latency, std::chrono::milliseconds(12));
  EXPECT_THAT(notes.value(), Contains(HasSubstr("whole milliseconds")));
}

TEST(LoadConfig, CommentsAndEmptyLinesAreNothing) {
  LoadSettings settings;
  const auto notes = config("# all\n\n   \t\n*.*.min_duration = 5 # five\r\n").apply("x", settings);
  ASSERT_TRUE(notes.ok());
  EXPECT_THAT(*notes, IsEmpty());
  EXPECT_EQ(settings.min_duration.count(), 5);
}

struct BadFile {
  const char* text;
  const char* message;
};

class BadConfig : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadConfig, IsRefusedWithItsLine) {
  LoadSettings settings;
  settings.scenario = Scenario::kServer;
  const auto parsed = LoadConfig::parse(GetParam().text, "user.conf", ConfigSource::kUser);
  std::string error;
  if (!parsed.ok()) {
    error = parsed.error().text();
  } else {
    const auto applied = parsed->apply("resnet50", settings);
    ASSERT_FALSE(applied.ok()) << GetParam().text;
    error = applied.error().text();
  }
  EXPECT_THAT(error, HasSubstr(GetParam().message));
  EXPECT_THAT(error, HasSubstr("user.conf:1"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadConfig,
    ::testing::Values(BadFile{"*.Server.target_qps=100\n", "is not `model.Scenario.key = value`"},
                      BadFile{"*.Server.target_qps = 1 2\n", "is not `model"},
                      BadFile{"target_qps = 1\n", "is not model.Scenario.key"},
                      BadFile{"..target_qps = 1\n", "is not model.Scenario.key"},
                      BadFile{"*.Sever.target_qps = 1\n", "no scenario 'Sever'"},
                      BadFile{"*.*.min_duration = soon\n", "'soon' is not a number"},
                      BadFile{"*.*.min_duraton = 1\n", "no key 'min_duraton'"},
                      BadFile{"*.*.min_duration = 1.5\n", "whole number"},
                      BadFile{"*.*.min_query_count = -3\n", "whole number"},
                      BadFile{"*.*.target_latency = 1e300\n", "out of range"},
                      BadFile{"*.*.mode = 4\n", "mode is"},
                      BadFile{"*.*.use_token_latencies = 1\n", "cannot be followed"}));

TEST(LoadConfig, AMisspeltKeyGetsTheNearest) {
  LoadSettings settings;
  EXPECT_EQ(config("*.*.min_duraton = 1\n").apply("x", settings).error().hint,
            "did you mean min_duration?");
}

}  // namespace
}  // namespace assay

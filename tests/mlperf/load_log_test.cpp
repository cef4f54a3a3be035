// SPDX-License-Identifier: Apache-2.0
#include "mlperf/load_log.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/golden.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Json& rows() {
  static const Json kRows = golden::load("results.json");
  return kRows;
}

// The report of a run of LoadGen.
LoadReport report_of(const Json& row) {
  LoadReport report;
  const Json& asked = row["asked"];
  report.asked = golden::settings(asked);
  report.system = "PySUT";
  report.library = "PyQSL";
  report.library_total = asked["total"].get<int64_t>();
  report.library_performance = asked["loaded"].get<int64_t>();
  report.effective = derive(report.asked, report.library_total, report.library_performance).value();
  report.sets.push_back({loaded_sets(report.asked, report.effective)[0],
                         row["generated"].get<int64_t>(), report.effective.samples_per_query,
                         Nanoseconds(0), 0});
  report.times = golden::times(row, report.effective);
  report.verdict = judge(report.effective, report.times);
  for (int64_t i = 0; i < row["results"]["num_errors"].get<int64_t>(); ++i) {
    report.remarks.push_back({LoadRemark::Kind::kError, "ended early"});
  }
  return report;
}

// Lines of a summary that hold a number or a word for a name; the clock of a trace starts a moment
// late, so one rate differs.
std::vector<std::string> named_lines(const std::string& summary) {
  std::vector<std::string> lines;
  for (const std::string& line : split(summary, '\n')) {
    const bool advice = line.starts_with(" * ") && !line.starts_with(" * Early stopping");
    if (line.find(':') == std::string::npos || advice) continue;
    if (line.starts_with("QPS w/ ") || line.starts_with("Recommendations")) continue;
    lines.push_back(line);
  }
  return lines;
}

std::vector<Json> parsed(const std::string& detail) {
  constexpr std::string_view kToken = ":::MLLOG ";
  std::vector<Json> lines;
  for (const std::string& line : split(detail, '\n')) {
    if (line.empty()) continue;
    EXPECT_THAT(line, StartsWith(std::string(kToken)));
    lines.push_back(parse_json(std::string_view(line).substr(kToken.size()), "detail").value());
  }
  return lines;
}

class LogsOfLoadGen : public ::testing::TestWithParam<size_t> {};

TEST_P(LogsOfLoadGen, HaveTheSameSummary) {
  const Json& row = rows()[GetParam()];
  EXPECT_EQ(named_lines(load_summary(report_of(row))),
            named_lines(row["summary"].get<std::string>()));
}

TEST_P(LogsOfLoadGen, HaveTheSameKeysInTheSameOrder) {
  const Json& row = rows()[GetParam()];
  // Theirs tells how it was built, how its logger did and what it is about to do.
  std::vector<std::string> theirs;
  for (const Json& key : row["keys"]) {
    const auto name = key.get<std::string>();
    const bool own = name.starts_with("logger_") || name.ends_with("generic_message") ||
                     name.starts_with("get_sut") || name == "error_runtime" ||
                     (name.starts_with("loadgen_") && name != "loadgen_version");
    if (!own) theirs.push_back(name);
  }
  std::vector<std::string> ours;
  for (const Json& line : parsed(load_detail(report_of(row), "Assay"))) {
    const auto name = line["key"].get<std::string>();
    if (name != "error_runtime") ours.push_back(name);
  }
  EXPECT_EQ(ours, theirs);
}

TEST_P(LogsOfLoadGen, HaveTheSameResults) {
  const Json& row = rows()[GetParam()];
  const std::set<std::string> worded{"result_invalid_reason", "early_stopping_result",
                                     "result_qps_with_loadgen_overhead"};
  size_t compared = 0;
  for (const Json& line : parsed(load_detail(report_of(row), "Assay"))) {
    const auto key = line["key"].get<std::string>();
    if (!row["results"].contains(key) || worded.contains(key)) continue;
    const Json& theirs = row["results"][key];
    ++compared;
    if (line["value"].is_number_float()) {  // six digits there
      EXPECT_NEAR(line["value"].get<double>(), theirs.get<double>(), 1e-5 * theirs.get<double>())
          << key;
    } else {
      EXPECT_EQ(line["value"], theirs) << key;
    }
  }
  EXPECT_GE(compared + worded.size(), row["results"].size());
}

INSTANTIATE_TEST_SUITE_P(Runs, LogsOfLoadGen, ::testing::Range<size_t>(0, 19));

TEST(LoadLog, StartsAsTheToolsDemandAndEscapesNames) {
  LoadReport report = report_of(rows()[1]);
  report.system = "a \"system\"\n\xc3\xa9";
  const std::string detail = load_detail(report, "Assay 1");
  EXPECT_THAT(detail, StartsWith(":::MLLOG {\"key\": \"loadgen_version\", \"value\": \"Assay 1\", "
                                 "\"time_ms\": 0.0, \"namespace\": \"mlperf::logging\", "
                                 "\"event_type\": \"POINT_IN_TIME\", \"metadata\": {\"is_error\": "
                                 "false, \"is_warning\": false, \"file\": "));
  for (const Json& line : parsed(detail)) {
    if (line["key"] == "sut_name") {
      EXPECT_EQ(line["value"], report.system);
    }
  }
}

TEST(LoadLog, MarksThePoweredIntervalAtBothEndsInUtc) {
  LoadReport report = report_of(rows()[1]);
  report.started_at = std::chrono::milliseconds(1796140965049);
  report.ended_at = report.started_at + std::chrono::milliseconds(1951);
  std::vector<std::string> seen;
  for (const Json& line : parsed(load_detail(report, "Assay"))) {
    const auto key = line["key"].get<std::string>();
    if (!key.starts_with("power_")) continue;
    seen.push_back(line["event_type"].get<std::string>());
    seen.push_back(line["value"].get<std::string>());
  }
  EXPECT_THAT(seen, ElementsAre("INTERVAL_START", "12-01-2026 16:02:45.049", "INTERVAL_END",
                                "12-01-2026 16:02:47.000"));
}

TEST(LoadLog, ARunThatWasGivenUpIsInvalidAndSaysWhy) {
  LoadReport report = report_of(rows()[11]);
  ASSERT_TRUE(report.valid());
  report.unanswered = 5;
  report.remarks.push_back({LoadRemark::Kind::kError, "given up after 1 s"});
  const std::string summary = load_summary(report);
  EXPECT_THAT(summary, HasSubstr("Result is : INVALID"));
  EXPECT_THAT(summary, HasSubstr(" * given up after 1 s"));
  EXPECT_THAT(summary, HasSubstr("1 ERROR encountered. See detailed log."));
  EXPECT_THAT(load_detail(report, "Assay"), HasSubstr("\"is_error\": true"));
}

TEST(LoadLog, AnUnofficialRunIsMarked) {
  LoadReport report = report_of(rows()[1]);
  EXPECT_THAT(load_summary(report), Not(HasSubstr("Unofficial")));
  report.unofficial = {"min_duration is 60 s, the rules ask for 600 s"};
  EXPECT_THAT(load_summary(report), HasSubstr("Unofficial: min_duration is 60 s"));
  EXPECT_THAT(load_detail(report, "Assay"), HasSubstr("assay_unofficial"));
}

TEST(LoadLog, AccuracyHoldsTheResponsesInHexadecimal) {
  LoadReport report = report_of(rows()[1]);
  report.verdict.reset();
  report.effective.mode = LoadMode::kAccuracy;
  EXPECT_EQ(load_accuracy(report), "[\n]\n");
  report.responses = {{0, 882, {"r\x03\x00\x00", 4}}, {1, 7, "\xff"}};
  EXPECT_EQ(load_accuracy(report),
            "[\n{ \"seq_id\" : 0, \"qsl_idx\" : 882, \"data\" : \"72030000\" },\n"
            "{ \"seq_id\" : 1, \"qsl_idx\" : 7, \"data\" : \"FF\" }\n]\n");
  EXPECT_EQ(load_summary(report),
            "\nNo warnings encountered during test.\n\nNo errors encountered during test.\n");
}

TEST(LoadLog, ThreeFilesAreWritten) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "assay_load_log";
  std::filesystem::create_directories(folder);
  const LoadReport report = report_of(rows()[1]);
  ASSERT_TRUE(write_load_logs(report, "Assay", folder).ok());
  EXPECT_EQ(read_file(folder / "mlperf_log_summary.txt").value(), load_summary(report));
  EXPECT_EQ(read_file(folder / "mlperf_log_detail.txt").value(), load_detail(report, "Assay"));
  EXPECT_EQ(read_file(folder / "mlperf_log_accuracy.json").value(), "[\n]\n");
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(write_load_logs(report, "Assay", folder).ok());
}

}  // namespace
}  // namespace assay

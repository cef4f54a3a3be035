// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "record/row.h"
#include "record/store_fixture.h"
#include "report/report_data.h"
#include "report/sample_store.h"
#include "report/target_statistics.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Report : public StoreFixture {
 protected:
  Report() { sample_store::fill(path()); }

  ReportResult write(ReportOptions options = {}) {
    const auto result = write_report(open(), options, folder() / "report.html");
    EXPECT_TRUE(result.ok()) << result.error().text();
    html_ = *read_file(folder() / "report.html");
    return *result;
  }
  ReportOptions without_plotly() const {
    ReportOptions options;
    options.plotly = folder() / "none.js";
    return options;
  }

  std::string html_;
};

TEST_F(Report, HasEveryPromisedSection) {
  const ReportResult result = write(without_plotly());
  for (const char* id : {"summary", "quality", "time-to-target", "inference", "counts", "steps",
                         "environment", "remarks", "cases"}) {
    EXPECT_THAT(html_, HasSubstr("<section id=\"" + std::string(id) + "\""));
    EXPECT_THAT(html_, HasSubstr("href=\"#" + std::string(id) + "\""));
  }
  EXPECT_EQ(result.records, 18);
  EXPECT_EQ(result.failures, 1);
  EXPECT_EQ(result.size_bytes, static_cast<int64_t>(html_.size()));
}

TEST_F(Report, IsTheSameEachTimeItIsMade) {
  write(without_plotly());
  const std::string first = html_;
  write(without_plotly());
  EXPECT_EQ(html_, first);
}

TEST_F(Report, LetsNoTextBecomeMarkup) {
  write(without_plotly());
  EXPECT_THAT(html_, Not(HasSubstr("<script>window.hacked")));
  EXPECT_THAT(html_, Not(HasSubstr("<img")));
  EXPECT_THAT(html_, HasSubstr("&lt;script&gt;window.hacked = 1&lt;/script&gt;"));
}

TEST_F(Report, LoadsNothingFromAnywhere) {
  write(without_plotly());
  for (const char* reference : {"src=\"http", "href=\"http", "url(", "@import", "<link"}) {
    EXPECT_THAT(html_, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(html_, HasSubstr("default-src &#39;none&#39;"));
}

TEST_F(Report, SaysWhenPlotsAreStatic) {
  EXPECT_THAT(write(without_plotly()).plots, StartsWith("static ("));
  EXPECT_THAT(html_, HasSubstr("Plots are static: plotly.min.js was not found"));
  EXPECT_THAT(html_, HasSubstr("<svg"));
}

TEST_F(Report, EmbedsPlotlyWhole) {
  ReportOptions options;
  options.plotly = folder() / "plotly.min.js";
  std::ofstream(options.plotly) << "window.Plotly = {x: '</script><b>'};";
  EXPECT_EQ(write(options).plots, "interactive");
  EXPECT_THAT(html_, HasSubstr("window.Plotly = {x: '<\\/script><b>'};"));
  EXPECT_THAT(html_, Not(HasSubstr("Plots are static")));
}

TEST_F(Report, ShowsOneRunWhenAsked) {
  ReportOptions options = without_plotly();
  options.run_id = "20261201T110000-7f3a";
  EXPECT_EQ(write(options).records, 18);
  options.run_id = "another";
  const auto none = write_report(open(), options, folder() / "none.html");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().text(), HasSubstr("no records of run 'another'"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "none.html"));
}

// The text of the section's cells, a line a row.
std::string rows_of(const std::string& html, const std::string& id) {
  const size_t begin = html.find("<section id=\"" + id + "\"");
  const std::string section = html.substr(begin, html.find("</section>", begin) - begin);
  std::string text;
  bool in_tag = false;
  for (size_t i = 0; i < section.size(); ++i) {
    if (section.compare(i, 5, "</tr>") == 0) text += '\n';
    if (section.compare(i, 5, "</td>") == 0) text += '|';
    if (section[i] == '<') in_tag = true;
    if (!in_tag) text += section[i];
    if (section[i] == '>') in_tag = false;
  }
  return text;
}

TEST_F(Report, ShowsCountsMemoryByPurposeAndTheHeaviestNodes) {
  write(without_plotly());
  const std::string rows = rows_of(html_, "counts");
  EXPECT_THAT(rows, HasSubstr("image-classification small, f32, batch 256|"));
  for (const char* field : {"macs", "flops", "read_bytes", "peak_bytes", "peak_parameter_bytes",
                            "peak_activation_bytes", "peak_input_bytes"}) {
    EXPECT_THAT(html_, HasSubstr("data-field=\"" + std::string(field) + "\"")) << field;
  }
  EXPECT_THAT(rows, HasSubstr("stage1.relu|"));
  EXPECT_THAT(rows, HasSubstr("stage2.conv|Conv|f32[256, 32, 14, 14]|"));
  EXPECT_LT(rows.find("stage2.conv"), rows.find("Gemm"));
  EXPECT_THAT(html_, HasSubstr("data-value=\"0.75\""));  // 2.4 of 3.2 GFLOP
}

TEST_F(Report, FailsWhereItCannotBeWritten) {
  const std::filesystem::path nowhere = folder() / "no folder";
  EXPECT_FALSE(write_report(open(), without_plotly(), nowhere / "report.html").ok());
  EXPECT_FALSE(std::filesystem::exists(nowhere));
}

TEST_F(Report, FillsTheRowOfItsCommand) {
  const Json row = make_row(*find_row_schema("report"), report_values(write(without_plotly())));
  EXPECT_EQ(row["records"], 18);
  EXPECT_EQ(row["status"], "measured");
}

TEST(ReportOfNothing, IsRefusedWithAHint) {
  class Empty : public StoreFixture {
   public:
    void TestBody() override {}
    using StoreFixture::folder;
    using StoreFixture::open;
  } fixture;
  const auto result = write_report(fixture.open(), {}, fixture.folder() / "report.html");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().hint, HasSubstr("assay study quick"));
}

TEST_F(Report, GroupsWhatDiffersOnlyBySeedOrByBatchAndPrecision) {
  const Store store = open();
  const auto data = read_report_data(store, std::nullopt);
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->training.size(), 2U);
  EXPECT_EQ(data->training[0].runs.size(), 5U);
  EXPECT_EQ(data->training[0].label,
            "image-classification small, torch, f32, batch 128, 2 threads");
  EXPECT_EQ(data->training[1].runs.size(), 3U);
  ASSERT_EQ(data->inference.size(), 1U);
  const auto& runs = data->inference[0].runs;
  ASSERT_EQ(runs.size(), 9U);
  EXPECT_EQ(runs.front()->measured_case.get("precision"), "f32");
  EXPECT_EQ(runs.back()->measured_case.integer("batch"), 256);
}

const TargetStatistic* statistic_named(const std::vector<TargetStatistic>& all,
                                       std::string_view name) {
  for (const TargetStatistic& statistic : all) {
    if (statistic.name == name) return &statistic;
  }
  return nullptr;
}

// Five runs with given times to target; a negative one stopped short at that time.
TrainingGroup group_of(std::vector<Record>& runs, const std::vector<double>& times) {
  TrainingGroup group;
  runs.resize(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    runs[i].status = times[i] < 0 ? Status::kShortOfTarget : Status::kMeasured;
    runs[i].add("time_s", std::abs(times[i]));
    if (times[i] > 0) runs[i].add("time_to_target_s", times[i]);
    group.runs.push_back(&runs[i]);
  }
  return group;
}

// The DGX-1 Transformer runs of MLPerf v0.5, minutes; published score 32.69.
TEST(TargetStatistics, AgreeWithAPublishedScore) {
  std::vector<Record> runs;
  const auto all = target_statistics(
      group_of(runs, {30.28, 30.29, 40.23, 40.18, 30.25, 30.11, 30.29, 30.05, 30.05, 40.08}));
  EXPECT_NEAR(*statistic_named(all, "olympic-mean")->value, 32.69, 0.005);
  EXPECT_NEAR(*statistic_named(all, "median")->value, 30.285, 1e-9);
  EXPECT_NEAR(*statistic_named(all, "mean")->value, 33.181, 1e-9);
  EXPECT_EQ(statistic_named(all, "mean")->method, "t");
  EXPECT_NE(statistic_named(all, "mean-bootstrap"), nullptr);
  EXPECT_EQ(statistic_named(all, "restricted-mean"), nullptr);
}

TEST(TargetStatistics, DoNotAverageSurvivors) {
  std::vector<Record> runs;
  const auto all = target_statistics(group_of(runs, {10, 12, 14, -20, 11}));
  EXPECT_FALSE(statistic_named(all, "mean")->value.has_value());
  EXPECT_FALSE(statistic_named(all, "mean")->missing.empty());
  EXPECT_EQ(statistic_named(all, "mean-bootstrap"), nullptr);
  EXPECT_DOUBLE_EQ(*statistic_named(all, "median")->value, 12);
  EXPECT_EQ(statistic_named(all, "median")->method, "Brookmeyer–Crowley");
  EXPECT_NE(statistic_named(all, "restricted-mean"), nullptr);
}

TEST(TargetStatistics, HaveNoMedianWhenMostRunsStayShort) {
  std::vector<Record> runs;
  const auto all = target_statistics(group_of(runs, {10, -20, -20, -20}));
  EXPECT_FALSE(statistic_named(all, "median")->value.has_value());
  EXPECT_THAT(statistic_named(all, "median")->missing, HasSubstr("fewer than half"));
}

TEST(TargetStatistics, OfOneRunClaimNoInterval) {
  std::vector<Record> runs;
  const auto all = target_statistics(group_of(runs, {10}));
  EXPECT_DOUBLE_EQ(*statistic_named(all, "mean")->value, 10);
  EXPECT_FALSE(statistic_named(all, "mean")->low.has_value());
  EXPECT_FALSE(statistic_named(all, "olympic-mean")->value.has_value());
}

}  // namespace
}  // namespace assay

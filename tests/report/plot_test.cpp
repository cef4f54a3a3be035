// SPDX-License-Identifier: Apache-2.0
#include "report/plot.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"

namespace assay {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(NiceTicks, AreRoundAndCoverTheData) {
  EXPECT_THAT(nice_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(nice_ticks(0.83, 0.92, 4),
              ElementsAre(DoubleNear(0.8, 1e-9), DoubleNear(0.85, 1e-9), DoubleNear(0.9, 1e-9),
                          DoubleNear(0.95, 1e-9)));
  for (const auto& [low, high] :
       {std::pair(0.0, 1e-9), std::pair(-3.0, 7e8), std::pair(5.0, 5.0), std::pair(0.0, 0.0)}) {
    const std::vector<double> ticks = nice_ticks(low, high, 5);
    ASSERT_GE(ticks.size(), 2U);
    EXPECT_LE(ticks.front(), low);
    EXPECT_GE(ticks.back(), high);
    EXPECT_LE(ticks.size(), 12U);
  }
  EXPECT_EQ(nice_ticks(NAN, 1, 5).size(), 2U);
}

TEST(Histogram, CountsEveryValueOnce) {
  RandomStream random{RandomKey(3)};
  std::vector<double> values(3000);
  for (double& value : values) value = 30 + random.normal();
  values.push_back(1e6);  // one slow step must not flatten the rest
  const Histogram bins = histogram(values);
  EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), 0.0), 3001);
  EXPECT_TRUE(bins.last_is_open);
  EXPECT_GE(bins.edges.size(), 10U);
  EXPECT_LT(bins.edges.back(), 40);
}

TEST(Histogram, WorksOnWhatHasNoSpread) {
  const Histogram bins = histogram(std::vector<double>(50, 7.0));
  EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), 0.0), 50);
  EXPECT_FALSE(bins.last_is_open);
  EXPECT_TRUE(histogram({}).edges.empty());
  EXPECT_TRUE(histogram({NAN}).edges.empty());
}

Plot two_lines() {
  Plot plot;
  plot.title = "a < b";
  plot.x_label = "x";
  plot.y_label = "y";
  plot.series = {{"one", {1, 2, 4}, {10, 20, 30}, {9, 19, NAN}, {11, 22, NAN}},
                 {"two", {1, 2}, {5, NAN}, {}, {}}};
  plot.target = 25;
  plot.target_label = "target 25";
  return plot;
}

TEST(PlotSvg, DrawsEverySeriesItsIntervalsAndTheTarget) {
  const std::string svg = plot_svg(two_lines());
  EXPECT_THAT(svg, HasSubstr("role=\"img\" aria-label=\"a &lt; b\""));
  EXPECT_THAT(svg, HasSubstr(">one</text>"));
  EXPECT_THAT(svg, HasSubstr(">target 25</text>"));
  EXPECT_THAT(svg, HasSubstr("class=\"target\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  size_t bars = 0;
  for (size_t at = svg.find("class=\"bar\""); at != std::string::npos;
       at = svg.find("class=\"bar\"", at + 1)) {
    ++bars;
  }
  EXPECT_EQ(bars, 2U);
}

TEST(PlotSvg, PutsBatchSizesAtEqualDistances) {
  Plot plot;
  plot.x_is_log2 = true;
  plot.series = {{"f32", {1, 4, 16}, {1, 2, 3}, {}, {}}};
  const std::string svg = plot_svg(plot);
  for (const char* label : {">1</text>", ">4</text>", ">16</text>"}) {
    EXPECT_THAT(svg, HasSubstr(label));
  }
}

TEST(PlotSvg, SurvivesPlotsWithNothingInThem) {
  EXPECT_THAT(plot_svg(Plot()), HasSubstr("</svg>"));
  Plot bars;
  bars.kind = PlotKind::kBars;
  bars.series = {{"x", {}, {}, {}, {}}};
  EXPECT_THAT(plot_svg(bars), HasSubstr("</svg>"));
  Plot log = bars;
  log.x_is_log2 = true;
  log.kind = PlotKind::kLines;
  EXPECT_THAT(plot_svg(log), HasSubstr("</svg>"));
}

TEST(PlotJson, IsWhatPlotlyTakes) {
  const Json json = plot_json(two_lines());
  EXPECT_EQ(json["data"].size(), 2U);
  EXPECT_EQ(json["data"][0]["mode"], "lines+markers");
  EXPECT_EQ(json["data"][0]["error_y"]["array"], Json::parse("[1.0, 2.0, null]"));
  EXPECT_EQ(json["data"][1]["y"], Json::parse("[5.0, null]"));
  EXPECT_EQ(json["layout"]["shapes"][0]["y0"], 25.0);
  Plot bars;
  bars.kind = PlotKind::kBars;
  bars.bar_width = 2;
  bars.series = {{"steps", {10, 12}, {3, 4}, {}, {}}};
  EXPECT_EQ(plot_json(bars)["data"][0]["x"], Json::parse("[11.0, 13.0]"));
}

}  // namespace
}  // namespace assay

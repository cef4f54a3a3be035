// SPDX-License-Identifier: Apache-2.0
//
// Plot: what is to be drawn, free of any library. It becomes static SVG (always in the page: it
// needs no scripts and prints) and JSON for Plotly (on top, for zoom and exact values).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace assay {

enum class PlotKind : unsigned char { kLines, kSteps, kBars };

// x ascending. Bars: x are the left edges, `width` that of one bar.
struct PlotSeries {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> low;  // ends of the intervals, empty or one each; NaN: none
  std::vector<double> high;
  // Of the palette; -1: the place of the series. Series of one thing share a colour.
  int colour = -1;
  bool dashed = false;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  PlotKind kind = PlotKind::kLines;
  std::vector<PlotSeries> series;
  std::optional<double> target;  // a horizontal line
  std::string target_label;
  bool x_is_log2 = false;    // batch sizes: ticks at the data
  bool y_from_zero = false;  // a rate or a count; else the data's own range
  double bar_width = 0;
};

// An <svg> with role="img" and the title as its name. Colours are classes of the page's style.
std::string plot_svg(const Plot& plot);

// {"data": [...], "layout": {...}} without colours: the page's script adds those of the theme.
Json plot_json(const Plot& plot);

// Round values that cover [low, high] with about `count` steps of 1, 2 or 5 times a power of ten.
std::vector<double> nice_ticks(double low, double high, int count);

// Equal bins over the values (Freedman and Diaconis 1981 width, 5 to 60 bins); the top 0.5 % beyond
// the 99.5th percentile is put into the last bin, so that one slow step does not flatten the rest.
struct Histogram {
  std::vector<double> edges;  // left ones
  std::vector<double> counts;
  double width = 0;
  bool last_is_open = false;  // the last bin also has everything above it
};
Histogram histogram(std::vector<double> values);

}  // namespace assay

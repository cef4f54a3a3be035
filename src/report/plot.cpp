// SPDX-License-Identifier: Apache-2.0
#include "report/plot.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace assay {
namespace {

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    if (std::isfinite(value)) {
      list.push_back(value);
    } else {
      list.push_back(nullptr);
    }
  }
  return list;
}

Json differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] - b[i];
  return numbers(out);
}

Json trace(const Plot& plot, const PlotSeries& series) {
  Json json = {{"name", series.name}, {"y", numbers(series.y)}};
  if (series.colour >= 0) json["meta"] = {{"colour", series.colour}};
  if (plot.kind == PlotKind::kBars) {
    std::vector<double> centres = series.x;
    for (double& x : centres) x += plot.bar_width / 2;
    json["type"] = "bar";
    json["x"] = numbers(centres);
    json["width"] = plot.bar_width;
    return json;
  }
  json["type"] = "scatter";
  json["x"] = numbers(series.x);
  json["mode"] = plot.kind == PlotKind::kSteps ? "lines" : "lines+markers";
  if (plot.kind == PlotKind::kSteps) json["line"] = {{"shape", "hv"}};
  if (series.dashed) json["line"] = {{"dash", "dash"}};
  if (!series.high.empty()) {
    json["error_y"] = {{"type", "data"},
                       {"symmetric", false},
                       {"array", differences(series.high, series.y)},
                       {"arrayminus", differences(series.y, series.low)}};
  }
  return json;
}

}  // namespace

Json plot_json(const Plot& plot) {
  Json data = Json::array();
  for (const PlotSeries& series : plot.series) data.push_back(trace(plot, series));
  Json x_axis = {{"title", {{"text", plot.x_label}}}};
  if (plot.x_is_log2) {
    std::vector<double> ticks;
    for (const PlotSeries& series : plot.series) {
      ticks.insert(ticks.end(), series.x.begin(), series.x.end());
    }
    std::sort(ticks.begin(), ticks.end());
    ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
    x_axis["type"] = "log";
    x_axis["tickvals"] = numbers(ticks);
    Json labels = Json::array();
    for (const double tick : ticks) labels.push_back(std::to_string(std::llround(tick)));
    x_axis["ticktext"] = std::move(labels);
  }
  Json y_axis = {{"title", {{"text", plot.y_label}}}};
  if (plot.y_from_zero) y_axis["rangemode"] = "tozero";
  Json layout = {{"xaxis", std::move(x_axis)},
                 {"yaxis", std::move(y_axis)},
                 {"showlegend", plot.series.size() > 1}};
  if (plot.target) {
    layout["shapes"] = Json::array({{{"type", "line"},
                                     {"xref", "paper"},
                                     {"x0", 0},
                                     {"x1", 1},
                                     {"y0", *plot.target},
                                     {"y1", *plot.target},
                                     {"line", {{"dash", "dash"}, {"width", 1.5}}}}});
    layout["annotations"] = Json::array({{{"xref", "paper"},
                                          {"x", 0.01},
                                          {"y", *plot.target},
                                          {"text", plot.target_label},
                                          {"showarrow", false},
                                          {"yanchor", "bottom"},
                                          {"xanchor", "left"}}});
  }
  return {{"data", std::move(data)}, {"layout", std::move(layout)}};
}

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high)) return {0, 1};
  if (low == high) {
    const double around = low == 0 ? 1 : std::fabs(low) * 0.1;
    low -= around;
    high += around;
  }
  const double raw = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double leading = raw / power;
  const double step = power * (leading <= 1 ? 1 : leading <= 2 ? 2 : leading <= 5 ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (double k = first; k <= last && ticks.size() < 100; ++k) ticks.push_back(k * step);
  return ticks;
}

Histogram histogram(std::vector<double> values) {
  Histogram out;
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
  };
  const double low = values.front();
  const double cut = at(0.995);
  out.last_is_open = values.back() > cut;
  const double span = std::max(cut - low, std::max(1e-9, std::fabs(low) * 1e-6));
  const double ideal = 2 * (at(0.75) - at(0.25)) / std::cbrt(static_cast<double>(values.size()));
  const double bins = std::clamp(ideal > 0 ? std::ceil(span / ideal) : 5.0, 5.0, 60.0);
  out.width = span / bins;
  const auto count = static_cast<size_t>(bins);
  for (size_t i = 0; i < count; ++i) out.edges.push_back(low + static_cast<double>(i) * out.width);
  out.counts.assign(count, 0);
  for (const double value : values) {
    const auto bin = static_cast<size_t>(std::max(0.0, (std::min(value, cut) - low) / out.width));
    ++out.counts[std::min(bin, count - 1)];
  }
  return out;
}

}  // namespace assay

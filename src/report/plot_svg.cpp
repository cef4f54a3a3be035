// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/html.h"
#include "report/plot.h"

namespace assay {
namespace {

// One unit is one pixel on a wide screen and two thirds of one on a phone.
constexpr double kWidth = 520;
constexpr double kHeight = 320;
constexpr double kLeft = 70;
constexpr double kRight = 16;
constexpr double kTop = 14;
constexpr double kBottom = 52;
constexpr double kLegendLine = 20;
constexpr size_t kColours = 6;

// Its place in the palette, which also chooses the marker.
size_t colour_of(const PlotSeries& series, size_t index) {
  return series.colour < 0 ? index : static_cast<size_t>(series.colour);
}

// The classes of the page's style.
std::string style_of(const PlotSeries& series, size_t index) {
  return fmt::format("s{}{}", colour_of(series, index) % kColours, series.dashed ? " dashed" : "");
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

// From data to pixels.
class Frame {
 public:
  explicit Frame(const Plot& plot) : log2_(plot.x_is_log2) {
    Range x;
    Range y;
    for (const PlotSeries& series : plot.series) {
      for (const double value : series.x) x.add(value);
      if (plot.kind == PlotKind::kBars && !series.x.empty())
        x.add(series.x.back() + plot.bar_width);
      for (const auto* values : {&series.y, &series.low, &series.high}) {
        for (const double value : *values) y.add(value);
      }
    }
    if (plot.target) y.add(*plot.target);
    if (plot.y_from_zero || plot.kind == PlotKind::kBars) y.add(0);
    if (plot.kind != PlotKind::kBars && !log2_) x.add(0);
    x_ticks_ = log2_ ? distinct(plot) : nice_ticks(x.low, x.high, 6);
    y_ticks_ = nice_ticks(y.low, y.high, 5);
    x_low_ = log2_ ? std::log2(x.low) - 0.25 : std::min(x.low, x_ticks_.front());
    x_high_ = log2_ ? std::log2(x.high) + 0.25 : std::max(x.high, x_ticks_.back());
    y_low_ = y_ticks_.front();
    y_high_ = y_ticks_.back();
  }

  double x(double value) const {
    const double position = log2_ ? std::log2(value) : value;
    return kLeft + (position - x_low_) / (x_high_ - x_low_) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - (value - y_low_) / (y_high_ - y_low_) * (kHeight - kBottom - kTop);
  }
  const std::vector<double>& x_ticks() const { return x_ticks_; }
  const std::vector<double>& y_ticks() const { return y_ticks_; }

 private:
  static std::vector<double> distinct(const Plot& plot) {
    std::vector<double> values;
    for (const PlotSeries& series : plot.series) {
      values.insert(values.end(), series.x.begin(), series.x.end());
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  bool log2_;
  double x_low_ = 0;
  double x_high_ = 1;
  double y_low_ = 0;
  double y_high_ = 1;
  std::vector<double> x_ticks_;
  std::vector<double> y_ticks_;
};

std::string tick_label(double value, double step) {
  if (std::fabs(value) >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (std::fabs(value) >= 1e4) return fmt::format("{:.4g} k", value / 1e3);
  const int digits = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, std::max(0, digits));
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     html_escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>",
                     x1, y1, x2, y2, style);
}

std::string axes(const Plot& plot, const Frame& frame) {
  std::string out;
  const double bottom = kHeight - kBottom;
  const auto& y_ticks = frame.y_ticks();
  const double y_step = y_ticks.size() > 1 ? y_ticks[1] - y_ticks[0] : 1;
  for (const double tick : y_ticks) {
    out += line(kLeft, frame.y(tick), kWidth - kRight, frame.y(tick), "grid");
    out += text_at(kLeft - 8, frame.y(tick) + 5, "end", tick_label(tick, y_step));
  }
  const auto& x_ticks = frame.x_ticks();
  const double x_step = x_ticks.size() > 1 ? x_ticks[1] - x_ticks[0] : 1;
  double last_x = -100;
  for (const double tick : x_ticks) {
    const double x = frame.x(tick);
    out += line(x, bottom, x, bottom + 5, "axis");
    if (x - last_x < 34) continue;  // no room for its label
    last_x = x;
    out += text_at(x, bottom + 20, "middle", tick_label(tick, plot.x_is_log2 ? 1 : x_step));
  }
  out += line(kLeft, bottom, kWidth - kRight, bottom, "axis");
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", plot.x_label);
  const double middle = (kTop + bottom) / 2;
  out += fmt::format(
      "<text x=\"16\" y=\"{:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1f})\">{}"
      "</text>",
      middle, middle, html_escaped(plot.y_label));
  return out;
}

std::string marker(size_t index, double x, double y) {
  switch (index % 3) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>", x, y);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\"/>", x - 3.5,
                         y - 3.5);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4.5 8h-9z\"/>", x, y - 5);
  }
}

std::string curve(const Plot& plot, const PlotSeries& series, const Frame& frame, size_t index) {
  std::string path;
  std::string marks;
  std::string bars;
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
    const double x = frame.x(series.x[i]);
    const double y = frame.y(series.y[i]);
    if (path.empty()) {
      path = fmt::format("M{:.1f} {:.1f}", x, y);
    } else if (plot.kind == PlotKind::kSteps) {
      path += fmt::format("H{:.1f}V{:.1f}", x, y);
    } else {
      path += fmt::format("L{:.1f} {:.1f}", x, y);
    }
    if (plot.kind == PlotKind::kLines) marks += marker(colour_of(series, index), x, y);
    const bool has_interval = i < series.low.size() && std::isfinite(series.low[i]) &&
                              i < series.high.size() && std::isfinite(series.high[i]);
    if (has_interval) bars += line(x, frame.y(series.low[i]), x, frame.y(series.high[i]), "bar");
  }
  return fmt::format(
      "<g class=\"{}\"><path d=\"{}\" class=\"line\"/>{}<g class=\"mark\">{}</g></g>",
      style_of(series, index), path, bars, marks);
}

std::string columns(const Plot& plot, const PlotSeries& series, const Frame& frame, size_t index) {
  std::string out;
  for (size_t i = 0; i < series.x.size(); ++i) {
    const double left = frame.x(series.x[i]);
    const double right = frame.x(series.x[i] + plot.bar_width);
    const double top = frame.y(series.y[i]);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left,
                       top, std::max(0.5, right - left - 0.7), frame.y(0) - top);
  }
  return fmt::format("<g class=\"{} column\">{}</g>", style_of(series, index), out);
}

std::string target_line(const Plot& plot, const Frame& frame) {
  if (!plot.target) return "";
  const double y = frame.y(*plot.target);
  return line(kLeft, y, kWidth - kRight, y, "target") +
         text_at(kLeft + 6, y - 6, "start", plot.target_label);
}

// Under the plot, as many names to a line as fit.
std::string legend(const Plot& plot, double& height) {
  if (plot.series.size() < 2) return "";
  std::string out;
  double x = kLeft;
  double y = kHeight + 14;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const double needed = 34 + 7.4 * static_cast<double>(plot.series[i].name.size());
    if (x > kLeft && x + needed > kWidth) {
      x = kLeft;
      y += kLegendLine;
    }
    out += fmt::format(
        "<g class=\"{}\"><path d=\"M{:.1f} {:.1f}h20\" class=\"line\"/><g "
        "class=\"mark\">{}</g></g>",
        style_of(plot.series[i], i), x, y - 4,
        plot.kind == PlotKind::kLines ? marker(colour_of(plot.series[i], i), x + 10, y - 4) : "");
    out += text_at(x + 26, y, "start", plot.series[i].name);
    x += needed;
  }
  height = y + 10;
  return out;
}

}  // namespace

std::string plot_svg(const Plot& plot) {
  const Frame frame(plot);
  double height = kHeight;
  std::string body = axes(plot, frame);
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    body += plot.kind == PlotKind::kBars ? columns(plot, series, frame, i)
                                         : curve(plot, series, frame, i);
  }
  body += target_line(plot, frame);
  body += legend(plot, height);
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">{}</svg>",
                     kWidth, height, html_escaped(plot.title), body);
}

}  // namespace assay

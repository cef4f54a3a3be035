// SPDX-License-Identifier: Apache-2.0
#include "report/figure.h"

#include "base/json.h"

namespace assay {
namespace {

// JSON inside <script>: "</" would end it.
std::string script_json(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

}  // namespace

void write_figure(Html& html, const Plot& plot, const HtmlTable& numbers) {
  html.open("figure", {{"class", "plot"}});
  html.element("figcaption", plot.title);
  html.raw(plot_svg(plot));
  html.open("script", {{"type", "application/json"}}).raw(script_json(plot_json(plot))).close();
  if (!numbers.rows.empty()) {
    html.open("details", {{"class", "numbers"}});
    html.element("summary", "The numbers");
    write_table(html, numbers);
    html.close();
  }
  html.close();
}

}  // namespace assay

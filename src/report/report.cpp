// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "report/pages.h"
#include "report/report_data.h"
#include "report/style.h"

namespace assay {
namespace {

// Whether plotly.min.js can be embedded, or why not.
struct PlotLibrary {
  std::string source;
  std::string absence;
};

PlotLibrary find_plotly(const ReportOptions& options) {
  const std::filesystem::path path =
      options.plotly.empty() ? assay_home() / "report" / "plotly.min.js" : options.plotly;
  Result<std::string> source = read_file(path, Bytes{int64_t{64} << 20});
  if (!source.ok()) return {"", "plotly.min.js was not found; ./dev setup fetches it"};
  // It would end the element that holds it. Inside strings "<\/" means the same.
  for (size_t at = source->find("</"); at != std::string::npos; at = source->find("</", at + 3)) {
    const std::string_view tag = std::string_view(*source).substr(at + 2, 6);
    if (tag == "script" || tag == "SCRIPT") source->replace(at, 2, "<\\/");
  }
  return {std::move(*source), ""};
}

void write_head(Html& html, const ReportData& data) {
  html.open("head");
  html.empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.empty("meta", {{"name", "generator"}, {"content", "Assay"}});
  // Nothing is fetched from anywhere: the file must open offline, and tell nobody.
  html.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content",
                       "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                       "img-src data: blob:"}});
  html.element("title", data.title);
  html.open("style").raw(report_style()).close();
  html.close();
}

void write_navigation(Html& html, const ReportData& data) {
  html.open("nav", {{"aria-label", "Sections"}}).open("ul");
  for (const Page& page : report_pages()) {
    if (!page.applies(data)) continue;
    html.open("li").element("a", page.title, {{"href", "#" + std::string(page.id)}}).close();
  }
  html.close().close();
}

void write_footer(Html& html, const Store& store, const PlotLibrary& plotly) {
  html.open("footer");
  html.open("p").text("Made by Assay from ").element("code", store.path().filename().string());
  html.text(", and from nothing else. ");
  html.text(plotly.absence.empty() ? "Plots can be zoomed where scripts run."
                                   : "Plots are static: " + plotly.absence + ".");
  html.close().close();
}

std::string document(const ReportData& data, const Store& store, const PlotLibrary& plotly) {
  Html html;
  html.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}});
  write_head(html, data);
  html.open("body").open("div", {{"class", "page"}});
  html.open("header").element("h1", data.title);
  html.element("p", data.runs.size() == 1 ? data.runs.front().command
                                          : fmt::format("{} runs, {} records", data.runs.size(),
                                                        data.records.size()));
  html.close();
  write_navigation(html, data);
  html.open("main");
  for (const Page& page : report_pages()) {
    if (!page.applies(data)) continue;
    const std::string id(page.id);
    html.open("section", {{"id", id}, {"aria-labelledby", id + "-title"}});
    html.element("h2", page.title, {{"id", id + "-title"}});
    page.write(data, html);
    html.close();
  }
  html.close();
  write_footer(html, store, plotly);
  html.close();
  if (!plotly.source.empty()) html.open("script").raw(plotly.source).close();
  html.open("script").raw(report_script()).close();
  html.close().close();
  return html.markup();
}

}  // namespace

Result<ReportResult> write_report(const Store& store, const ReportOptions& options,
                                  const std::filesystem::path& path) {
  ASSAY_ASSIGN(ReportData data, read_report_data(store, options.run_id));
  data.title = options.title;
  const PlotLibrary plotly = find_plotly(options);
  const std::string text = document(data, store, plotly);
  ASSAY_TRY(write_file(path, text));
  ReportResult result;
  result.path = path;
  result.size_bytes = static_cast<int64_t>(text.size());
  result.records = static_cast<int64_t>(data.records.size());
  for (const Record& record : data.records) {
    if (is_failure(record.status) && record.status != Status::kShortOfTarget) ++result.failures;
  }
  result.plots = plotly.absence.empty() ? "interactive" : "static (" + plotly.absence + ")";
  return result;
}

Json report_values(const ReportResult& result) {
  return {{"path", result.path.string()},
          {"size_bytes", result.size_bytes},
          {"records", result.records},
          {"failures", result.failures},
          {"plots", result.plots}};
}

}  // namespace assay

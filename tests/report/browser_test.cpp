// SPDX-License-Identifier: Apache-2.0
//
// The page in a real browser: every promised section is there, every number in it is the store's,
// nothing scrolls sideways at phone width, and text of a record never runs.
#include <cstdlib>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "record/row.h"
#include "record/store_fixture.h"
#include "report/report.h"
#include "report/sample_store.h"

namespace assay {
namespace {

using testing::HasSubstr;

// What a script of the test finds out inside the page, sent to the page that frames it.
constexpr const char* kProbe = R"(<script>
addEventListener('load', function () {
  var count = function (selector, accept) {
    return Array.from(document.querySelectorAll(selector)).filter(accept || Boolean).length;
  };
  document.documentElement.dataset.probed = 'yes';
  setTimeout(function () {
    parent.postMessage(JSON.stringify({
      page_width: document.documentElement.scrollWidth,
      view_width: innerWidth,
      room: document.documentElement.clientWidth,  // without the scroll bar
      hacked: window.hacked !== undefined,
      figures: count('figure.plot'),
      live: count('figure.is-live'),
      hidden: count('figure.plot svg[role=img]', function (svg) {
        return getComputedStyle(svg).display === 'none';
      }),
      drawn: count('figure.plot', function (figure) { return figure.querySelector('.main-svg'); }),
      overflowing: count('figure.plot .main-svg', function (svg) {
        return svg.getBoundingClientRect().width > svg.closest('figure').clientWidth + 1;
      }),
      cases: count('details.case'),
      copies: count('button.copy')
    }), '*');
  }, 500);
});
</script>)";

// A window cannot be as narrow as a phone, a frame can.
constexpr const char* kFrame = R"(<!DOCTYPE html><title>frame</title><script>
addEventListener('message', function (event) {
  document.documentElement.dataset.found = event.data;
});
</script><iframe src="report.html" style="width:360px;height:900px;border:0"></iframe>)";

std::string attribute_of_root(const std::string& dom, const std::string& name) {
  const size_t start = dom.find("<html");
  if (start == std::string::npos) return "absent";
  const std::string root = dom.substr(start, dom.find('>', start) - start);
  std::smatch match;
  return std::regex_search(root, match, std::regex("data-" + name + "=\"([^\"]*)\""))
             ? match[1].str()
             : "absent";
}

class Browser : public StoreFixture {
 protected:
  void SetUp() override {
    ProcessOptions ask;
    ask.arguments = {"chromium", "--version"};
    const auto version = run_process(ask, std::chrono::seconds(60));
    if (!version.ok()) GTEST_SKIP() << "chromium is not installed: " << version.error().text();
    sample_store::fill(path());
  }

  std::string page(const std::filesystem::path& plotly) {
    ReportOptions options;
    options.plotly = plotly;
    const auto result = write_report(open(), options, file());
    EXPECT_TRUE(result.ok()) << result.error().text();
    return *read_file(file());
  }

  void put(const std::string& html) {
    std::string probed = html;
    probed.insert(probed.rfind("</body>"), kProbe);
    EXPECT_TRUE(write_file(file(), probed).ok());
  }

  // The DOM of a file after it has loaded.
  std::string dom(const std::filesystem::path& page_file) {
    ProcessOptions options;
    options.arguments = {"chromium",
                         "--headless",
                         "--no-sandbox",
                         "--disable-gpu",
                         "--disable-dev-shm-usage",
                         "--user-data-dir=" + (folder() / "profile").string(),
                         "--virtual-time-budget=5000",
                         "--dump-dom",
                         "file://" + page_file.string()};
    options.environment["HOME"] = folder().string();
    const auto out = run_process(options, std::chrono::seconds(240));
    EXPECT_TRUE(out.ok()) << out.error().text();
    return out.ok() ? *out : "";
  }

  // What the probe finds in a page of phone width.
  Json on_a_phone(const std::string& html) {
    put(html);
    EXPECT_TRUE(write_file(folder() / "frame.html", kFrame).ok());
    std::string found = attribute_of_root(dom(folder() / "frame.html"), "found");
    found = std::regex_replace(found, std::regex("&quot;"), "\"");
    const auto json = parse_json(found, "probe");
    EXPECT_TRUE(json.ok()) << found;
    return json.ok() ? *json : Json();
  }

  std::filesystem::path file() const { return folder() / "report.html"; }
};

std::string section(const std::string& dom, const std::string& id) {
  const size_t start = dom.find("<section id=\"" + id + "\"");
  if (start == std::string::npos) return "";
  return dom.substr(start, dom.find("</section>", start) - start);
}

struct Shown {
  std::string field;
  std::string value;
  int64_t record = 0;
};

// Every cell of the page that names a field of a record.
std::vector<Shown> shown_cells(const std::string& dom) {
  std::vector<Shown> cells;
  size_t at = 0;
  while ((at = dom.find("<td ", at)) != std::string::npos) {
    const std::string tag = dom.substr(at, dom.find('>', at) - at);
    at += 4;
    const auto value_of = [&tag](const std::string& name) -> std::string {
      const std::string key = name + "=\"";
      const size_t start = tag.find(key);
      if (start == std::string::npos) return "";
      return tag.substr(start + key.size(), tag.find('"', start + key.size()) - start - key.size());
    };
    const std::string record = value_of("data-record");
    if (record.empty()) continue;
    cells.push_back({value_of("data-field"), value_of("data-value"), *parse_int(record)});
  }
  return cells;
}

TEST_F(Browser, FindsEverySectionWithTheStoresNumbersAndNeedsNoScripts) {
  std::string html = page(folder() / "none.js");
  const std::string allowed = "script-src &#39;unsafe-inline&#39;";
  html.replace(html.find(allowed), allowed.size(), "script-src &#39;none&#39;");
  put(html);
  const std::string dom = this->dom(file());
  EXPECT_EQ(attribute_of_root(dom, "probed"), "absent") << "scripts must be off in this test";
  for (const char* id : {"quality", "inference", "steps"}) {
    EXPECT_THAT(section(dom, id), HasSubstr("<svg ")) << id;
    EXPECT_THAT(section(dom, id), HasSubstr("<table>")) << id;
  }
  for (const char* id : {"summary", "quality", "time-to-target", "inference", "counts", "steps",
                         "environment", "remarks", "cases"}) {
    EXPECT_FALSE(section(dom, id).empty()) << id;
  }
  const Store store = open();
  const RowSchema& schema = *find_row_schema("study");
  std::map<int64_t, Json> rows;
  const auto records = store.query({});
  ASSERT_TRUE(records.ok()) << records.error().text();
  for (const Record& record : *records) rows[record.id] = row_of(record, schema);
  std::map<std::string, std::set<int64_t>> seen;
  for (const Shown& cell : shown_cells(dom)) {
    ASSERT_TRUE(rows.contains(cell.record)) << cell.field;
    const Json& row = rows[cell.record];
    if (!row.contains(cell.field)) continue;  // computed for the page
    seen[cell.field].insert(cell.record);
    if (row[cell.field].is_number()) {
      EXPECT_EQ(*parse_double(cell.value), row[cell.field].get<double>())
          << cell.field << " of record " << cell.record;
    } else if (row[cell.field].is_null()) {
      EXPECT_EQ(cell.value, "") << cell.field << " of record " << cell.record;
    }
  }
  // Records 1 to 8 are training, 9 to 17 inference, 18 is counted.
  EXPECT_EQ(seen["peak_bytes"], std::set<int64_t>{18});
  EXPECT_EQ(seen["time_to_target_s"].size(), 8U);
  EXPECT_EQ(seen["step_mean_ns"].size(), 8U);
  EXPECT_EQ(seen["throughput_per_s"].size(), 17U);
  EXPECT_EQ(seen["latency_p50_ns"].size(), 9U);
  EXPECT_EQ(seen["quality"].size(), 17U);
  for (const auto& [id, row] : rows) {
    EXPECT_THAT(section(dom, "cases"), HasSubstr("id=\"record-" + std::to_string(id) + "\""));
    EXPECT_THAT(section(dom, "cases"), HasSubstr(row["case"].get<std::string>()));
  }
  EXPECT_THAT(section(dom, "remarks"), HasSubstr("signal 9 (Killed)"));
  EXPECT_THAT(section(dom, "remarks"), HasSubstr("contended: 61 % of the expected CPU time"));
  EXPECT_THAT(section(dom, "environment"), HasSubstr("Example Xeon 8481C"));
}

TEST_F(Browser, NeverScrollsSidewaysAtPhoneWidth) {
  const Json found = on_a_phone(page(folder() / "none.js"));
  EXPECT_EQ(found["view_width"], 360);
  EXPECT_EQ(found["page_width"], found["room"]);
  EXPECT_EQ(found["hacked"], false);
  EXPECT_EQ(found["figures"], 7);
  EXPECT_EQ(found["hidden"], 0) << "without Plotly the static plots stay";
  EXPECT_GT(found["cases"].get<int>(), 17);
  EXPECT_EQ(found["copies"], found["cases"]);
}

TEST_F(Browser, DrawsEveryPlotWithPlotlyWhereItIsFound) {
  const std::filesystem::path plotly = assay_home() / "report" / "plotly.min.js";
  if (!std::filesystem::exists(plotly)) GTEST_SKIP() << plotly << " is not there (./dev setup)";
  const Json found = on_a_phone(page(plotly));
  EXPECT_EQ(found["figures"], 7);
  EXPECT_EQ(found["live"], 7);
  EXPECT_EQ(found["drawn"], 7);
  EXPECT_EQ(found["hidden"], 7) << "each static plot gives way";
  EXPECT_EQ(found["overflowing"], 0);
  EXPECT_EQ(found["page_width"], found["room"]);
}

}  // namespace
}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "record/formats.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "record/row.h"
#include "record/sample_records.h"
#include "record/table.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;

const RowSchema& small_schema() {
  static const RowSchema schema = {
      "demo",
      "",
      "a test",
      {{"case", FieldType::kText, "", "c", FieldSource::kRow, "", true, false},
       {"status", FieldType::kText, "", "s"},
       {"reason", FieldType::kText, "", "r"},
       {"name", FieldType::kText, "", "n"},
       {"time_ns", FieldType::kNumber, "ns", "t"},
       {"parts", FieldType::kList, "", "p"}}};
  return schema;
}

Json small_rows() {
  return Json::parse(R"([
    {"case": "v1:", "status": "measured", "reason": "", "name": "a, \"b\"\nc", "time_ns": 1500.0,
     "parts": [{"name": "x", "version": "1"}, {"name": "y"}], "missing": {}},
    {"case": "v1:seed=1", "status": "crashed", "reason": "signal 9 | <b>", "name": "plain",
     "time_ns": null, "parts": [], "missing": {"time_ns": "crashed"}}])");
}

std::string formatted(Format format, int width = 0, bool colour = false) {
  return format_rows(small_schema(), small_rows(), {format, width, colour});
}

TEST(Json, IsOneDocumentWithTheSchemasVersion) {
  const Json document = Json::parse(formatted(Format::kJson));
  EXPECT_EQ(document["schema"], "assay/1");
  EXPECT_EQ(document["command"], "demo");
  EXPECT_EQ(document["rows"], small_rows());
}

TEST(Json, OfRealRowsParsesAndIsComplete) {
  Record record = sample_records::trained();
  record.reason = "bytes \xff that are no UTF-8";
  const RowSchema& schema = *find_row_schema("train");
  const std::string text =
      format_rows(schema, Json::array({row_of(record, schema)}), {Format::kJson, 0, false});
  const Json row = Json::parse(text)["rows"][0];
  for (const Field& field : schema.fields) EXPECT_TRUE(row.contains(field.name)) << field.name;
  EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
}

TEST(Jsonl, IsOneRowALine) {
  const std::vector<std::string> lines = split(formatted(Format::kJsonl), '\n');
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(Json::parse(lines[0]), small_rows()[0]);
  EXPECT_EQ(Json::parse(lines[1]), small_rows()[1]);
  EXPECT_EQ(lines[2], "");
}

TEST(Csv, QuotesFlattensAndKeepsReasons) {
  EXPECT_EQ(formatted(Format::kCsv),
            "case,status,reason,name,time_ns,parts.0.name,parts.0.version,parts.1.name,"
            "missing.time_ns\r\n"
            "v1:,measured,,\"a, \"\"b\"\"\nc\",1500.0,x,1,y,\r\n"
            "v1:seed=1,crashed,signal 9 | <b>,plain,,,,,crashed\r\n");
}

TEST(Markdown, EscapesWhatWouldBreakATable) {
  EXPECT_EQ(formatted(Format::kMarkdown),
            "| name | time\\_ns | parts | status | reason |\n"
            "| --- | ---: | --- | --- | --- |\n"
            "| a, \"b\" c | 1.50 us | x 1, y | measured |  |\n"
            "| plain | – |  | crashed | signal 9 \\| &lt;b> |\n");
}

TEST(Table, AlignsColumnsAndPutsTheStatusLast) {
  EXPECT_EQ(formatted(Format::kTable),
            "name      time_ns  parts   status    reason\n"
            "a, \"b\" c  1.50 us  x 1, y  measured\n"
            "plain           –          crashed   signal 9 | <b>\n");
}

TEST(Table, LeavesOutColumnsThatNoRowHas) {
  Json rows = small_rows();
  rows.erase(1);
  const std::string text = format_rows(small_schema(), rows, {Format::kTable, 0, false});
  EXPECT_THAT(text, Not(HasSubstr("reason")));
  EXPECT_EQ(format_rows(small_schema(), Json::array(), {Format::kTable, 0, false}),
            "nothing to show\n");
}

TEST(Table, ACatalogueShowsTheStatusOnlyOfWhatIsNotWell) {
  Json rows = small_rows();
  EXPECT_THAT(format_rows(small_schema(), rows, {Format::kTable, 0, false}), HasSubstr("crashed"));
  rows.erase(1);
  EXPECT_THAT(format_rows(small_schema(), rows, {Format::kTable, 0, false}),
              Not(HasSubstr("status")));
  RowSchema measuring = small_schema();
  measuring.measuring = true;
  EXPECT_THAT(format_rows(measuring, rows, {Format::kTable, 0, false}), HasSubstr("measured"));
  EXPECT_TRUE(find_row_schema("train")->measuring);
  EXPECT_FALSE(find_row_schema("schema")->measuring);
}

TEST(Table, APlanShowsItsCases) {
  const RowSchema& plan = *find_row_schema("train", "plan");
  const Json row{{"case", "v1:activity=train"}, {"status", "skipped"}, {"reason", "dry run"}};
  const std::string text =
      format_rows(plan, Json::array({make_row(plan, row)}), {Format::kTable, 0, false});
  EXPECT_THAT(text, HasSubstr("v1:activity=train"));
  EXPECT_THAT(text, Not(HasSubstr("dry run")));
}

TEST(Table, ContinuesLongTextsBelow) {
  Json rows = small_rows();
  rows[0]["name"] = "one two three four five six seven eight nine ten eleven twelve thirteen";
  EXPECT_EQ(format_rows(small_schema(), rows, {Format::kTable, 0, false}),
            "name                                                      time_ns  parts   status    "
            "reason\n"
            "one two three four five six seven eight nine ten eleven   1.50 us  x 1, y  measured\n"
            "twelve thirteen\n"
            "plain                                                           –          crashed   "
            "signal 9 | <b>\n");
}

TEST(Table, OneWideRowIsALineAField) {
  Json rows = small_rows();
  rows.erase(0);
  rows[0]["reason"] =
      "a reason of many words that would make the only line of this table much "
      "longer than anybody's page is wide";
  EXPECT_EQ(format_rows(small_schema(), rows, {Format::kTable, 60, false}),
            "name    plain\n"
            "status  crashed\n"
            "reason  a reason of many words that would make the only line\n"
            "        of this table much longer than anybody's page is\n"
            "        wide\n");
  EXPECT_THAT(format_rows(small_schema(), rows, {Format::kTable, 0, false}),
              HasSubstr("name    plain\n"));
  rows[0]["reason"] = "short";
  EXPECT_EQ(format_rows(small_schema(), rows, {Format::kTable, 0, false}),
            "name   status   reason\nplain  crashed  short\n");
}

TEST(Table, FitsTheTerminalByBreakingTextOnly) {
  Json rows = small_rows();
  rows[1]["reason"] = std::string(200, 'x');
  const std::string text = format_rows(small_schema(), rows, {Format::kTable, 60, false});
  for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), 60U) << line;
  EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), 201);  // nothing is lost
  EXPECT_THAT(text, HasSubstr("1.50 us"));
  // A terminal that is far too narrow gets lines, and still shows the numbers whole.
  EXPECT_THAT(formatted(Format::kTable, 20), HasSubstr("time_ns  1.50 us\n"));
}

TEST(Table, HasColoursOnlyWhenAsked) {
  EXPECT_THAT(formatted(Format::kTable), Not(HasSubstr("\x1b")));
  EXPECT_THAT(formatted(Format::kTable, 0, true), HasSubstr("\x1b[31mcrashed\x1b[0m"));
  EXPECT_FALSE(stdout_options(Format::kTable).colour && !isatty(1));
}

TEST(Table, LetsNoControlCharacterReachTheTerminal) {
  Json rows = small_rows();
  rows[0]["name"] = "\x1b[2Jgone";
  EXPECT_THAT(format_rows(small_schema(), rows, {Format::kTable, 0, false}),
              Not(HasSubstr("\x1b")));
}

TEST(Table, MeasuresWidthAsATerminalDoes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µ–…"), 3U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
}

TEST(HumanValue, UsesTheFieldsUnit) {
  const auto shown = [](const char* unit, const Json& value, FieldType type = FieldType::kNumber) {
    return human_value({"x", type, unit, "d"}, value);
  };
  EXPECT_EQ(shown("per_s", 12345.678), "12,346/s");
  EXPECT_EQ(shown("per_s", 12.345), "12.35/s");
  EXPECT_EQ(shown("share", 0.0123), "1.23 %");
  EXPECT_EQ(shown("joules", 1234567), "1,234,567 J");
  EXPECT_EQ(shown("usd", 0.25), "$0.25");
  EXPECT_EQ(shown("usd", 1234.5), "$1234.50");
  EXPECT_EQ(shown("usd", 3.701e-05), "$0.000037");
  EXPECT_EQ(shown("", 0.91623), "0.9162");
  EXPECT_EQ(shown("", 0.9180), "0.9180");
  EXPECT_EQ(shown("count", -1234567, FieldType::kInteger), "-1,234,567");
  EXPECT_EQ(shown("", nullptr), "–");
  EXPECT_EQ(shown("", true, FieldType::kBoolean), "yes");
  EXPECT_EQ(shown("", Json::array({1, 3, 224}), FieldType::kList), "1×3×224");
  EXPECT_EQ(shown("", Json::array({"a", "b"}), FieldType::kList), "a, b");
  EXPECT_EQ(shown("", Json::array({{{"name", "torch"}, {"version", "2"}}}), FieldType::kList),
            "torch 2");
  EXPECT_EQ(shown("", Json::array({{{"level", 1}, {"type", "data"}, {"size_bytes", 49152}}}),
                  FieldType::kList),
            "level 1 data size 48.0 KiB");
}

TEST(Format, IsKnownByName) {
  EXPECT_EQ(*parse_format("md"), Format::kMarkdown);
  EXPECT_EQ(*parse_format("table"), Format::kTable);
  EXPECT_THAT(parse_format("xml").error().text(), HasSubstr("unknown format 'xml'"));
}

}  // namespace
}  // namespace assay

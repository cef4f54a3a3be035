// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/options.h"

namespace assay::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Command sample() {
  const std::vector<Option> cases = case_options();
  Command command;
  command.name = "sample";
  command.positionals = {{"NAME", "a name"}};
  command.options = joined({cases, measuring_options()});
  command.conflicts = {{"--repeat", {"--min-time"}}, case_conflict(cases)};
  return command;
}

Invocation parsed(const std::vector<std::string>& arguments) { return parse(sample(), arguments); }

std::string complaint(const std::vector<std::string>& arguments) {
  try {
    parsed(arguments);
  } catch (const UserError& error) {
    return std::string(error.what()) + " | " + error.where() + " | " + error.hint();
  }
  return "";
}

TEST(Parser, ReadsValuesListsFlagsAndArguments) {
  const Invocation given =
      parsed({"net", "--batch", "1,4", "--batch=16", "--db", "a b.db", "--strict"});
  EXPECT_THAT(given.positionals, ElementsAre("net"));
  EXPECT_THAT(given.options.at("--batch"), ElementsAre("1,4", "16"));
  EXPECT_EQ(given.value("--db"), "a b.db");
  EXPECT_TRUE(given.has("--strict"));
  EXPECT_FALSE(given.has("--resume"));
  EXPECT_EQ(given.command_line, "assay sample net --batch 1,4 --batch=16 --db a b.db --strict");
}

TEST(Parser, OptionsMayStandBeforeAndAfterArguments) {
  EXPECT_THAT(parsed({"--batch", "1", "net"}).positionals, ElementsAre("net"));
}

TEST(Parser, UnknownOptionsComeWithTheNearest) {
  EXPECT_THAT(complaint({"net", "--bacth", "4"}), HasSubstr("did you mean '--batch'"));
  EXPECT_THAT(complaint({"net", "--bacth=4"}), HasSubstr("unknown option '--bacth'"));
  EXPECT_THAT(complaint({"net", "-x"}), HasSubstr("unknown option '-x'"));
}

TEST(Parser, ValuesOfClosedSetsAreChecked) {
  EXPECT_THAT(complaint({"net", "--precision", "f32,bf61"}), HasSubstr("did you mean 'bf16'"));
  EXPECT_THAT(complaint({"net", "--format", "xml"}), HasSubstr("one of: table, json"));
  EXPECT_EQ(complaint({"net", "--precision", "f32,bf16"}), "");
}

TEST(Parser, ContradictionsAreRefused) {
  EXPECT_THAT(complaint({"net", "--repeat", "3", "--min-time", "1"}),
              HasSubstr("--repeat and --min-time contradict each other"));
  EXPECT_THAT(complaint({"net", "--case", "v1:activity=infer", "--batch", "4"}),
              HasSubstr("contradict"));
}

TEST(Parser, CountsItsArguments) {
  EXPECT_THAT(complaint({}), HasSubstr("NAME is missing"));
  EXPECT_THAT(complaint({"a", "b"}), HasSubstr("unexpected argument 'b'"));
}

TEST(Parser, AValueIsGivenOnce) {
  EXPECT_THAT(complaint({"net", "--db", "a", "--db", "b"}), HasSubstr("--db"));
  EXPECT_THAT(complaint({"net", "--db"}), HasSubstr("--db"));
}

TEST(Parser, HelpNeedsNothingElse) { EXPECT_TRUE(parsed({"--help"}).has("--help")); }

TEST(Parser, NumbersOfOptionsAreChecked) {
  EXPECT_EQ(parsed({"net", "--repeat", "3"}).integer("--repeat"), 3);
  EXPECT_EQ(parsed({"net", "--timeout", "2.5"}).number("--timeout"), 2.5);
  EXPECT_THROW(parsed({"net", "--repeat", "x"}).integer("--repeat"), UserError);
  EXPECT_THROW(parsed({"net", "--repeat", "-3"}).integer("--repeat"), UserError);
  EXPECT_THROW(parsed({"net", "--timeout", "0"}).number("--timeout"), UserError);
  EXPECT_THROW(parsed({"net", "--timeout", "nan"}).number("--timeout"), UserError);
}

}  // namespace
}  // namespace assay::cli

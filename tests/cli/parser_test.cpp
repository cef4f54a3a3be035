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
  EXPECT_THAT(complaint({"net", "--db", "a", "--db", "b"}), HasSubstr("--db is given twice"));
}

TEST(Parser, AnOptionWithoutItsValueSaysWhatItWants) {
  const std::string repeat =
      "--repeat wants a whole number from 1 to 2147483647 | assay sample | see 'assay sample "
      "--help'";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"net", "--repeat"},
                                             {"net", "--repeat="},
                                             {"net", "--repeat", ""},
                                             {"net", "--repeat", "--strict"}})
    EXPECT_EQ(complaint(arguments), repeat);
  EXPECT_EQ(complaint({"net", "--db"}),
            "--db wants a value: --db FILE | assay sample | without --db it is assay.db");
  EXPECT_THAT(complaint({"net", "--precision"}), HasSubstr("--precision wants one of: f32, tf32"));
  EXPECT_THAT(complaint({"net", "--strict=5"}), HasSubstr("--strict takes no value"));
}

TEST(Parser, StrayArgumentsAreNamed) {
  EXPECT_THAT(complaint({"net", "-5"}), HasSubstr("unexpected argument '-5'"));
  EXPECT_THAT(complaint({"net", "--", "--strict"}), HasSubstr("unexpected argument '--strict'"));
  EXPECT_THAT(complaint({"net", "-"}), HasSubstr("unexpected argument '-'"));
}

TEST(Parser, HelpNeedsNothingElse) { EXPECT_TRUE(parsed({"--help"}).has("--help")); }

TEST(Parser, NumbersOfOptionsAreChecked) {
  EXPECT_EQ(parsed({"net", "--repeat", "3"}).integer("--repeat"), 3);
  EXPECT_EQ(parsed({"net", "--timeout", "2.5"}).number("--timeout"), 2.5);
  EXPECT_EQ(parsed({"net", "--order-seed", "18446744073709551615"}).seed("--order-seed"),
            18446744073709551615U);
  EXPECT_EQ(complaint({"net", "--batch", "0"}),
            "--batch wants a whole number from 1 to 2147483647, not '0' | assay sample | "
            "without --batch it is the recipe's");
}

// Whatever option of whatever command takes a number refuses what is none, and says which it was.
TEST(Parser, EveryNumericOptionRefusesNonsense) {
  size_t numeric = 0;
  for (const Command& command : commands()) {
    std::vector<std::string> arguments;
    for (const Positional& positional : command.positionals)
      if (positional.required) arguments.push_back(positional.name);
    for (const Option& option : command.options) {
      if (!option.number) {
        EXPECT_TRUE(option.value_name != "N" && option.value_name != "SECONDS") << option.name;
        continue;
      }
      ++numeric;
      std::vector<std::string> nonsense{"abc", "",     "-1", "1e",   "nan",
                                        "inf", "0x10", "1-", "9e99", "99999999999999999999999"};
      if (option.number->kind != NumberKind::kSeed) {
        nonsense.emplace_back("9007199254740993");  // 2^53 + 1
        if (option.number->low > 0 || option.number->kind == NumberKind::kDecimal)
          nonsense.emplace_back("0");
      }
      if (option.kind == OptionKind::kList) nonsense.insert(nonsense.end(), {"1,,2", "1,x", "4-1"});
      for (const std::string& text : nonsense) {
        std::vector<std::string> given = arguments;
        given.insert(given.end(), {option.name, text});
        try {
          parse(command, given);
          ADD_FAILURE() << command.name << " " << option.name << " takes '" << text << "'";
        } catch (const UserError& error) {
          EXPECT_THAT(error.what() + error.where(), HasSubstr(option.name)) << text;
          EXPECT_FALSE(error.hint().empty()) << command.name << " " << option.name << " " << text;
        }
      }
    }
  }
  EXPECT_GT(numeric, 30U);
}

}  // namespace
}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
#include "study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kSmall = R"(
title = "A study"
report = "out.html"
[budget_s]
first = 10
later = 5
[[part]]
name = "first"
[part.stopping]
max_time_s = 2.5
[[part.sweep]]
activity = "infer"
workload = "w"
batch = [1, "8-10"]
seed = "0-1"
[part.sweep.set]
"optimizer.rate" = [0.1, 0.2]
)";

TEST(Study, ReadsPartsSweepsAndBudgets) {
  const Study study = parse_study(kSmall, "s.toml").value();
  EXPECT_EQ(study.title, "A study");
  EXPECT_EQ(study.report, "out.html");
  EXPECT_EQ(study.budget_s, 15);
  ASSERT_THAT(study.parts, SizeIs(1));
  EXPECT_EQ(study.parts[0].budget_s, 10);
  EXPECT_EQ(study.parts[0].stopping.max_time_s, 2.5);
  EXPECT_EQ(study.parts[0].stopping.min_time_s, StoppingOptions().min_time_s);
  const std::vector<Case> cases = expand(study.parts[0].sweeps[0]).value();
  ASSERT_THAT(cases, SizeIs(4 * 2 * 2));
  EXPECT_EQ(cases[0].text(), "v1:activity=infer workload=w batch=1 set.optimizer.rate=0.1");
}

struct Broken {
  const char* from;
  const char* to;
  const char* words;
};

class BrokenStudies : public testing::TestWithParam<Broken> {};

TEST_P(BrokenStudies, SayWhatIsWrong) {
  std::string text = kSmall;
  const size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string_view(GetParam().from).size(), GetParam().to);
  const auto study = parse_study(text, "s.toml");
  ASSERT_FALSE(study.ok());
  EXPECT_THAT(study.error().text() + study.error().hint, HasSubstr(GetParam().words));
  EXPECT_THAT(study.error().place, HasSubstr("s.toml"));
}

INSTANTIATE_TEST_SUITE_P(Study, BrokenStudies,
                         testing::Values(Broken{"activity = \"infer\"", "", "no activity"},
                                         Broken{"batch =", "bacth =", "did you mean 'batch'"},
                                         Broken{"title =", "tilte =", "did you mean 'title'"},
                                         Broken{"first = 10", "first = -1", "above 0"},
                                         Broken{"first = 10", "", "no budget"},
                                         Broken{"name = \"first\"", "", "no name"},
                                         Broken{"\"8-10\"", "\"10-8\"", "ends before it begins"},
                                         Broken{"[1, ", "[\"many\", ", "batch"},
                                         Broken{"max_time_s", "max_tame_s", "max_time_s"},
                                         Broken{"[[part.sweep]]", "[[part.other]]",
                                                "no key 'other'"},
                                         Broken{"[budget_s]", "[budgets]", "budget_s"},
                                         Broken{"title = \"A study\"", "title = ", "s.toml:2"}));

TEST(Study, AMissingFileIsAnError) {
  const auto study = read_study("/nonexistent/x.toml");
  ASSERT_FALSE(study.ok());
  EXPECT_THAT(study.error().text(), HasSubstr("x.toml"));
}

TEST(Study, EveryStudyOfTheTreeIsValid) {
  const std::filesystem::path folder = std::filesystem::path(ASSAY_SOURCE_DIR) / "studies";
  const std::vector<std::string> names = study_names(folder);
  EXPECT_THAT(names, testing::Contains("quick"));
  for (const std::string& name : names)
    EXPECT_TRUE(read_study(folder / (name + ".toml")).ok()) << name;
}

TEST(Study, QuickFitsTenMinutes) {
  const Study quick =
      read_study(std::filesystem::path(ASSAY_SOURCE_DIR) / "studies" / "quick.toml").value();
  EXPECT_LE(quick.budget_s, 600);
}

}  // namespace
}  // namespace assay

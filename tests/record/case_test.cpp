// SPDX-License-Identifier: Apache-2.0
#include "record/case.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Case parsed(std::string_view text) {
  Result<Case> result = Case::parse(text);
  EXPECT_TRUE(result.ok()) << text << ": " << (result.ok() ? "" : result.error().text());
  return result.ok() ? std::move(result).value() : Case();
}

std::string error_of(std::string_view text) {
  const Result<Case> result = Case::parse(text);
  EXPECT_FALSE(result.ok()) << text;
  if (result.ok()) return "";
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  return result.error().text();
}

TEST(Case, PrintsOnlyWhatDiffersFromTheDefaultsInTheOrderOfTheTable) {
  const Case c = parsed("v1:seed=3 variant=small engine=torch workload=ic activity=train");
  EXPECT_EQ(c.text(), "v1:activity=train workload=ic seed=3");
  EXPECT_EQ(Case().text(), "v1:");
}

TEST(Case, KeepsTheDefaultsOfVersionOneForEver) {
  std::string defaults;
  for (const CaseKey& key : case_keys()) defaults += key.name + "=" + key.default_value + " ";
  EXPECT_EQ(defaults,
            "activity= workload= model= file= variant=small engine=torch device=cpu precision=f32 "
            "batch=0 threads=0 replicas=1 scenario=throughput level=2 seed=0 steps=0 epochs=0 ");
}

TEST(Case, AnswersDefaultsForKeysThatAreNotSet) {
  const Case c = parsed("v1:activity=train batch=32 epochs=0.5 seed=18446744073709551615");
  EXPECT_EQ(c.get("engine"), "torch");
  EXPECT_EQ(c.integer("batch"), 32);
  EXPECT_EQ(c.integer("replicas"), 1);
  EXPECT_EQ(c.number("epochs"), 0.5);
  EXPECT_EQ(c.unsigned_integer("seed"), 18446744073709551615U);
  EXPECT_EQ(c.get("set.optimizer.rate"), "");
}

TEST(Case, SpellsAValueInOneWay) {
  EXPECT_EQ(parsed("v1:batch=007 epochs=1e1 seed=0012").text(), "v1:batch=7 seed=12 epochs=10");
  EXPECT_EQ(parsed("v1:batch=+0 epochs=-0"), Case());
}

TEST(Case, GivesTheOverridesOfTheRecipeSorted) {
  const Case c = parsed("v1:set.optimizer.rate=0.1 set.batch=12 activity=train");
  EXPECT_THAT(c.overrides(), ElementsAre(Pair("batch", "12"), Pair("optimizer.rate", "0.1")));
  EXPECT_EQ(c.text(), "v1:activity=train set.batch=12 set.optimizer.rate=0.1");
}

TEST(Case, EncodesWhatWouldBreakALineOrAShell) {
  const Case c = *Case().with("file", "a b'c\n100%\x7f \xc3\xa9 \xff.onnx");
  EXPECT_EQ(c.text(), "v1:file=a%20b%27c%0A100%25%7F%20\xc3\xa9%20%FF.onnx");
  EXPECT_EQ(parsed(c.text()), c);
}

TEST(Case, LeavesTheOriginalUnchanged) {
  const Case original = parsed("v1:batch=4");
  const Case changed = *original.with("batch", "0");
  EXPECT_EQ(original.integer("batch"), 4);
  EXPECT_EQ(changed, Case());
}

TEST(Case, NamesTheNearestKeyForAnUnknownOne) {
  EXPECT_THAT(error_of("v1:bacth=4"), HasSubstr("did you mean 'batch'"));
  EXPECT_THAT(error_of("v1:colour=red"), HasSubstr("unknown case key 'colour'"));
}

TEST(Case, RefusesValuesOfTheWrongType) {
  EXPECT_THAT(error_of("v1:batch=four"), HasSubstr("'four' is not an integer"));
  EXPECT_THAT(error_of("v1:batch=4.5"), HasSubstr("case key 'batch'"));
  EXPECT_THAT(error_of("v1:batch=-1"), HasSubstr("below 0"));
  EXPECT_THAT(error_of("v1:replicas=0"), HasSubstr("below 1"));
  EXPECT_THAT(error_of("v1:batch=99999999999"), HasSubstr("above 2147483647"));
  EXPECT_THAT(error_of("v1:level=9"), HasSubstr("above 2"));
  EXPECT_THAT(error_of("v1:batch=9223372036854775808"), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("v1:seed=-1"), HasSubstr("unsigned 64-bit"));
  EXPECT_THAT(error_of("v1:seed=18446744073709551616"), HasSubstr("unsigned 64-bit"));
  EXPECT_THAT(error_of("v1:epochs=nan"), HasSubstr("not a finite number"));
  EXPECT_THAT(error_of("v1:epochs=inf"), HasSubstr("not a finite number"));
  EXPECT_THAT(error_of("v1:engine="), HasSubstr("is empty"));
}

TEST(Case, RefusesTextThatIsNoCase) {
  for (const char* text : {"", "activity=train", "v2:activity=train", "v1", " v1:"}) {
    EXPECT_THAT(error_of(text), HasSubstr("starts with 'v1:'"));
  }
  EXPECT_THAT(error_of("v1:activity"), HasSubstr("not key=value"));
  EXPECT_THAT(error_of("v1:batch=1 batch=1"), HasSubstr("twice"));
  EXPECT_THAT(error_of("v1:file=100%"), HasSubstr("hexadecimal"));
  EXPECT_THAT(error_of("v1:file=%4"), HasSubstr("hexadecimal"));
  EXPECT_THAT(error_of("v1:file=%+1"), HasSubstr("hexadecimal"));
  for (const char* text : {"v1:set.=1", "v1:set.a.=1", "v1:set..a=1", "v1:set.a!=1", "v1:set=1"}) {
    EXPECT_THAT(error_of(text), HasSubstr("unknown case key"));
  }
}

std::string random_text(RandomStream& random) {
  std::string text(1 + random.below(12), ' ');
  for (char& c : text) c = static_cast<char>(random.below(256));
  return text;
}

std::string random_value(RandomStream& random, const CaseKey& key) {
  switch (key.type) {
    case CaseValueType::kText:
      return random_text(random);
    case CaseValueType::kInteger:
      return std::to_string(1 + random.below(static_cast<uint64_t>(key.maximum)));
    case CaseValueType::kUnsigned:
      return std::to_string(random.next_u64());
    case CaseValueType::kNumber:
      return std::to_string(random.uniform(0, 1e6));
    case CaseValueType::kBoolean:
      return random.bernoulli(0.5) ? "true" : "false";
  }
  return "";
}

TEST(Case, ParsesBackToItselfWhateverItHolds) {
  RandomStream random{RandomKey(20260101)};
  std::set<std::string> texts;
  for (int round = 0; round < 2000; ++round) {
    Case c;
    for (const CaseKey& key : case_keys()) {
      if (random.bernoulli(0.4)) c = *c.with(key.name, random_value(random, key));
    }
    if (random.bernoulli(0.3)) c = *c.with("set.optimizer.rate", random_text(random));
    if (random.bernoulli(0.3)) c = *c.with("set.a-b.c_d", "");
    const std::string text = c.text();
    const Result<Case> back = Case::parse(text);
    ASSERT_TRUE(back.ok()) << text << ": " << back.error().text();
    ASSERT_EQ(*back, c) << text;
    ASSERT_EQ(back->text(), text);
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 1900U);  // the cases really differed
}

}  // namespace
}  // namespace assay

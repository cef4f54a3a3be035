// SPDX-License-Identifier: Apache-2.0
#include "study/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Protocol, RequestsComeBackAsTheyWere) {
  RunRequest run;
  run.requested = Case::parse("v1:activity=infer workload=w batch=8").value();
  run.stopping.max_time_s = 3.25;
  run.stopping.max_samples = 7;
  run.checkpoint_folder = "/a folder/\xc3\xa4";
  run.checkpoint = "w.safetensors";
  run.mllog = "log.txt";
  run.organisation = "Example \"Org\"";
  const std::string line = to_line(Request{run});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = std::get<RunRequest>(parse_request(line).value());
  EXPECT_EQ(back.requested, run.requested);
  EXPECT_EQ(back.stopping.max_time_s, 3.25);
  EXPECT_EQ(back.stopping.max_samples, 7);
  EXPECT_EQ(back.checkpoint_folder, run.checkpoint_folder);
  EXPECT_EQ(back.checkpoint, run.checkpoint);
  EXPECT_EQ(back.mllog, run.mllog);
  EXPECT_EQ(back.organisation, run.organisation);
  EXPECT_TRUE(std::holds_alternative<CancelRequest>(
      parse_request(to_line(Request{CancelRequest{}})).value()));
}

TEST(Protocol, ProgressKeepsWhatIsNotKnownApart) {
  const Progress bare{.text = "sampling", .fraction = {}, .rate = {}, .item = ""};
  const auto back = std::get<Progress>(parse_reply(to_line(Reply{bare})).value());
  EXPECT_EQ(back.text, "sampling");
  EXPECT_FALSE(back.fraction.has_value());
  EXPECT_FALSE(back.rate.has_value());
  const Progress full{.text = "x", .fraction = 0.5, .rate = 12.5, .item = "image"};
  const auto whole = std::get<Progress>(parse_reply(to_line(Reply{full})).value());
  EXPECT_EQ(whole.fraction, 0.5);
  EXPECT_EQ(whole.rate, 12.5);
  EXPECT_EQ(whole.item, "image");
}

TEST(Protocol, RecordsComeBackWithTheirSamples) {
  Record record;
  record.status = Status::kNoisy;
  record.reason = "noise";
  record.add("latency_mean_ns", 12.5);
  record.samples.push_back({"latency_ns", {1, 2, 3}});
  const auto back = std::get<RecordReply>(parse_reply(to_line(Reply{RecordReply{record}})).value());
  EXPECT_EQ(back.record.status, Status::kNoisy);
  EXPECT_EQ(back.record.metric("latency_mean_ns")->value, 12.5);
  EXPECT_THAT(back.record.samples_named("latency_ns")->values, testing::ElementsAre(1, 2, 3));
}

TEST(Protocol, TextThatIsNoUtf8StillMakesALine) {
  Record record;
  record.reason = "bad \xff byte";
  EXPECT_TRUE(parse_reply(to_line(Reply{RecordReply{record}})).ok());
}

class BadLines : public testing::TestWithParam<const char*> {};

TEST_P(BadLines, AreRefused) {
  EXPECT_FALSE(parse_request(GetParam()).ok());
  EXPECT_FALSE(parse_reply(GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(Protocol, BadLines,
                         testing::Values("", "not json", "[]", "{}",
                                         "{\"request\": 3, \"reply\": 3}",
                                         "{\"request\": \"dance\", \"reply\": \"dance\"}",
                                         "{\"request\": \"run\", \"reply\": \"record\"}",
                                         "{\"request\": \"run\", \"case\": \"nonsense\"}"));

}  // namespace
}  // namespace assay

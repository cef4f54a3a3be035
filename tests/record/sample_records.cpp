// SPDX-License-Identifier: Apache-2.0
#include "record/sample_records.h"

#include <bit>
#include <utility>

#include <gtest/gtest.h>

#include "base/json.h"

namespace assay::sample_records {

Record trained() {
  Record record;
  record.run_id = "run-1";
  record.measured_case =
      *Case::parse("v1:activity=train workload=image-classification seed=11400714819323198485");
  record.digest = std::string(64, 'a');
  record.status = Status::kNoisy;
  record.reason = "step times vary by 9 %";
  record.add("quality", 0.9162);
  record.add("target", 0.915);
  record.add("time_to_target_s", 42.125);
  record.add("batch", 128);
  record.add("throughput_per_s", 4321.5, Interval{4300.25, 4342.75, 0.95, "batch-means"});
  record.metrics.back().tags = {{"phase", "training"}};
  record.facts = {{"item", "image"}, {"metric", "top1"}, {"reached", "true"}};
  record.missing = {{"energy_joules", "no RAPL in this virtual machine"}};
  record.marks = {"contended: CPU time is 71 % of wall time"};
  record.samples = {{"step_time_ns", {2.5e7, 2.6e7, 1.0 / 3}}, {"loss", {}}};
  record.environment_id = "0123456789abcdef";
  record.code_version = "0.1.0+g8554e07";
  record.started_at = std::chrono::milliseconds(1'796'000'000'123);
  record.duration_s = 45.5;
  return record;
}

Record inferred() {
  Record record = trained();
  record.measured_case =
      *Case::parse("v1:activity=infer workload=image-classification precision=bf16 batch=16");
  record.status = Status::kMeasured;
  record.reason.clear();
  record.metrics.clear();
  record.add("throughput_per_s", 12345.678);
  record.add("latency_p50_ns", 1'234'567);
  record.missing = {{"latency_p99_9_ns", "needs 1000 samples"}};
  record.marks.clear();
  return record;
}

Record crashed() {
  Record record = inferred();
  record.measured_case = *record.measured_case.with("threads", "2");
  record.status = Status::kCrashed;
  record.reason = "signal 11 (Segmentation fault)";
  record.metrics.clear();
  record.facts.clear();
  record.missing.clear();
  record.samples.clear();
  return record;
}

void expect_equal(const Record& a, const Record& b) {
  EXPECT_EQ(to_json(a).dump(2), to_json(b).dump(2));
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (size_t i = 0; i < a.samples.size(); ++i) {
    ASSERT_EQ(a.samples[i].values.size(), b.samples[i].values.size());
    for (size_t j = 0; j < a.samples[i].values.size(); ++j) {
      EXPECT_EQ(std::bit_cast<uint64_t>(a.samples[i].values[j]),
                std::bit_cast<uint64_t>(b.samples[i].values[j]));
    }
  }
}

}  // namespace assay::sample_records

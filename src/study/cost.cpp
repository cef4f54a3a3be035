// SPDX-License-Identifier: Apache-2.0
#include "study/cost.h"

#include <string>

#include "base/error.h"
#include "base/text.h"
#include "measure/summary.h"

namespace assay {
namespace {

constexpr double kSecondsPerHour = 3600;

Error no_cost(std::string reason) { return {ErrorCode::kInvalid, std::move(reason)}; }

Result<double> timed_seconds_of_training(const Record& record) {
  if (const Metric* time = record.metric("time_to_target_s")) return time->value;
  const bool has_target = record.metric("target") != nullptr;
  if (has_target) return no_cost("the target was not reached");
  if (const Metric* time = record.metric("time_s")) return time->value;
  return no_cost("nothing was timed");
}

Result<double> timed_seconds_of_inference(const Record& record) {
  const Samples* samples = record.samples_named("latency_ns");
  const auto calls = record.facts.find("latency_calls_per_sample");
  if (samples == nullptr || calls == record.facts.end()) return no_cost("nothing was timed");
  const Result<int64_t> calls_per_sample = parse_int(calls->second);
  if (!calls_per_sample.ok()) return calls_per_sample.error();
  double total_ns = 0;
  for (const double value : samples->values) total_ns += value;
  return total_ns * static_cast<double>(*calls_per_sample) * 1e-9;
}

}  // namespace

void add_cost(Record& record, std::optional<double> price_per_hour_usd) {
  constexpr const char* kOfRun = "cost_usd";
  constexpr const char* kOfMillion = "cost_per_million_usd";
  if (!price_per_hour_usd) {
    for (const char* name : {kOfRun, kOfMillion, "price_per_hour_usd"})
      record.missing[name] = "no price of this machine was given; --price names it";
    return;
  }
  record.add("price_per_hour_usd", *price_per_hour_usd);
  const double per_second = *price_per_hour_usd / kSecondsPerHour;
  const Result<double> seconds = record.measured_case.get("activity") == "train"
                                     ? timed_seconds_of_training(record)
                                     : timed_seconds_of_inference(record);
  if (seconds.ok())
    record.add(kOfRun, *seconds * per_second);
  else
    record.missing[kOfRun] = seconds.error().message;
  const Metric* rate = record.metric("throughput_per_s");
  if (rate == nullptr || !(rate->value > 0)) {
    record.missing[kOfMillion] = "no throughput was measured";
    return;
  }
  const double scale = 1e6 * per_second;
  const Result<Interval> interval =
      rate->interval ? Result<Interval>(*rate->interval) : no_cost("the throughput has none");
  add_with_interval(record, kOfMillion, scale / rate->value, reciprocal(interval, scale));
}

}  // namespace assay

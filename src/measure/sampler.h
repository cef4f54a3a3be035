// SPDX-License-Identifier: Apache-2.0
//
// Sampler: calls something again and again and keeps how long every call took. Warm-up first, then
// samples until a stopping rule is content. Between the two readings of the clock there is only the
// call; nothing is allocated or written then, and the book-keeping between samples is well below a
// microsecond (bench/measure). Not thread-safe; the subject runs on the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "measure/contention.h"
#include "measure/stopping.h"

namespace assay {

struct SamplerOptions {
  StoppingOptions stopping;
  double warmup_time_s = 0.1;  // warm-up ends when both are reached
  int64_t warmup_calls = 3;
  // A sample shorter than this is mostly clock: such calls are timed several at a time.
  Nanoseconds shortest_sample{5000};
  double expected_cpus = 1;  // see contention_between
};

struct SampleSeries {
  std::string name;
  std::vector<double> values_ns;  // per call, in the order taken
  int64_t calls_per_sample = 1;   // above 1, each value is the mean of so many calls
  int64_t warmup_calls = 0;
  double elapsed_s = 0;            // of sampling
  std::string stop_reason;         // "noise 0.8 % is at most 1 %"
  bool quiet = true;               // false: the wanted noise was not reached
  double noise = 0;                // relative half-width when it stopped
  std::vector<std::string> marks;  // contention, drift, outliers, batching
  std::map<std::string, std::string> missing;
};

// One call. An error ends the sampling and is returned.
using Subject = std::function<Result<void>()>;

// `probe` null: no contention marks.
Result<SampleSeries> sample(const Subject& subject, const Clock& clock,
                            const SamplerOptions& options, const ContentionProbe* probe = nullptr);

struct NamedSubject {
  std::string name;
  Subject call;
};

// For paired comparison: rounds of one sample of each, in a new random order each round, so that
// what disturbs the machine meets all alike. All series have the same length, value i of each
// belongs to round i. Ends when the rule of every subject is content, or at the limits (of time: of
// all together).
Result<std::vector<SampleSeries>> interleave(std::span<const NamedSubject> subjects,
                                             const Clock& clock, const SamplerOptions& options,
                                             RandomKey order,
                                             const ContentionProbe* probe = nullptr);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "measure/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "measure/drift.h"

namespace assay {
namespace {

// A call takes at least a fraction of a nanosecond; a clock that never moves must not loop for
// ever.
constexpr int64_t kMostCallsPerSample = 1 << 16;
constexpr size_t kMostReserved = 1 << 20;

// One subject on its way: how many calls make a sample, what was measured, when it is enough.
struct Track {
  Track(std::string name, const Subject& call, const StoppingOptions& stopping)
      : subject(call), rule(stopping) {
    series.name = std::move(name);
  }
  const Subject& subject;
  CombinedRule rule;
  SampleSeries series;
};

struct Timing {
  Nanoseconds start{0};
  Nanoseconds end{0};
  Nanoseconds length() const { return end - start; }
};

// `calls` calls between two readings of the clock.
Result<Timing> timed(const Subject& subject, const Clock& clock, int64_t calls) {
  Timing timing;
  timing.start = clock.now();
  for (int64_t i = 0; i < calls; ++i) {
    if (auto result = subject(); !result.ok()) [[unlikely]] {
      return std::move(result).error();
    }
  }
  timing.end = clock.now();
  return timing;
}

// Calls until warm, and finds how many calls fill the shortest sample from the last ones.
Result<void> warm_up(Track& track, const Clock& clock, const SamplerOptions& options) {
  const auto wanted = std::chrono::duration_cast<Nanoseconds>(Seconds(options.warmup_time_s));
  const Nanoseconds start = clock.now();
  int64_t calls = 1;  // per reading of the clock
  Timing timing;
  bool warm = false;
  while (!warm) {
    ASSAY_ASSIGN(timing, timed(track.subject, clock, calls));
    track.series.warmup_calls += calls;
    const bool long_enough =
        timing.length() >= options.shortest_sample || calls == kMostCallsPerSample;
    warm = long_enough && track.series.warmup_calls >= options.warmup_calls &&
           (timing.end - start >= wanted || calls == kMostCallsPerSample);
    if (!long_enough) calls *= 2;
  }
  const double per_call_ns =
      std::max(1e-3, static_cast<double>(timing.length().count()) / static_cast<double>(calls));
  const double filling = static_cast<double>(options.shortest_sample.count()) / per_call_ns;
  track.series.calls_per_sample =
      static_cast<int64_t>(std::clamp(std::ceil(filling), 1.0, static_cast<double>(calls)));
  // Room for what the time limit allows, so that the loop allocates nothing.
  const double sample_ns = per_call_ns * static_cast<double>(track.series.calls_per_sample);
  const double samples = std::min({1.25e9 * options.stopping.max_time_s / sample_ns + 16,
                                   static_cast<double>(options.stopping.max_samples),
                                   static_cast<double>(kMostReserved)});
  track.series.values_ns.reserve(static_cast<size_t>(std::max(samples, 0.0)));
  return {};
}

// One sample, of a sampling that began at `begin`.
Result<void> take_sample(Track& track, const Clock& clock, Nanoseconds begin) {
  const int64_t calls = track.series.calls_per_sample;
  ASSAY_ASSIGN(const Timing timing, timed(track.subject, clock, calls));
  const double value = static_cast<double>(timing.length().count()) / static_cast<double>(calls);
  track.series.values_ns.push_back(value);
  track.rule.add(value, timing.end - begin);
  return {};
}

void add_marks(SampleSeries& series, const std::optional<Contention>& contention) {
  if (contention) {
    series.marks = contention->marks;
    series.missing = contention->missing;
  }
  if (auto mark = drift_mark(series.values_ns)) series.marks.push_back(std::move(*mark));
  if (auto mark = outlier_mark(series.values_ns)) series.marks.push_back(std::move(*mark));
  if (series.calls_per_sample > 1) {
    series.marks.push_back(fmt::format(
        "batched: each sample is the mean of {} calls, too short to be timed one by one",
        series.calls_per_sample));
  }
}

SampleSeries finish(Track& track, double elapsed_s, const std::optional<Contention>& contention) {
  SampleSeries series = std::move(track.series);
  series.elapsed_s = elapsed_s;
  series.stop_reason = track.rule.reason();
  series.quiet = track.rule.quiet();
  series.noise = track.rule.noise();
  add_marks(series, contention);
  return series;
}

// Rounds over all tracks until every rule is content; a time or sample limit met by one is met by
// all, since they share the clock and the rounds.
Result<std::vector<SampleSeries>> run(std::vector<Track>& tracks, const Clock& clock,
                                      const SamplerOptions& options, RandomStream* order,
                                      const ContentionProbe* probe) {
  for (Track& track : tracks) ASSAY_TRY(warm_up(track, clock, options));
  std::vector<size_t> turns(tracks.size());
  std::iota(turns.begin(), turns.end(), size_t{0});
  std::optional<ContentionReading> before;
  if (probe != nullptr) before = probe->read();
  const Nanoseconds start = clock.now();
  const auto content = [](const Track& track) { return track.rule.finished(); };
  do {
    if (order != nullptr) order->shuffle(std::span<size_t>(turns));
    for (const size_t turn : turns) ASSAY_TRY(take_sample(tracks[turn], clock, start));
  } while (!std::all_of(tracks.begin(), tracks.end(), content));
  const double elapsed_s = Seconds(clock.now() - start).count();
  std::optional<Contention> contention;
  if (before) contention = contention_between(*before, probe->read(), options.expected_cpus);
  std::vector<SampleSeries> all;
  all.reserve(tracks.size());
  for (Track& track : tracks) all.push_back(finish(track, elapsed_s, contention));
  return all;
}

}  // namespace

Result<SampleSeries> sample(const Subject& subject, const Clock& clock,
                            const SamplerOptions& options, const ContentionProbe* probe) {
  std::vector<Track> tracks;
  tracks.emplace_back("", subject, options.stopping);
  ASSAY_ASSIGN(std::vector<SampleSeries> series, run(tracks, clock, options, nullptr, probe));
  return std::move(series.front());
}

Result<std::vector<SampleSeries>> interleave(std::span<const NamedSubject> subjects,
                                             const Clock& clock, const SamplerOptions& options,
                                             RandomKey order, const ContentionProbe* probe) {
  ASSAY_ASSERT(!subjects.empty(), "nothing to interleave");
  std::vector<Track> tracks;
  tracks.reserve(subjects.size());
  for (const NamedSubject& subject : subjects) {
    tracks.emplace_back(subject.name, subject.call, options.stopping);
  }
  RandomStream stream(order);
  return run(tracks, clock, options, &stream, probe);
}

}  // namespace assay

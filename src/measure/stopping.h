// SPDX-License-Identifier: Apache-2.0
//
// When to stop sampling. A rule is fed every sample and says, in words, why it is done; rules are
// small and combine. add() allocates nothing and costs some nanoseconds (noise is worked out anew
// only when the sample has grown by a sixteenth). Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace assay {

// As the command line gives it.
struct StoppingOptions {
  double min_time_s = 0.5;
  double max_time_s = 10;
  double max_noise = 0.01;  // relative half-width of the mean's 95 % interval
  int64_t min_samples = 10;
  int64_t max_samples = 1'000'000;
};

class StoppingRule {
 public:
  virtual ~StoppingRule() = default;
  // One more sample, and the time since sampling began.
  virtual void add(double value, Nanoseconds elapsed) = 0;
  virtual bool finished() const = 0;
  virtual std::string reason() const = 0;  // why, or what is still missing
};

// Done after so many samples.
class CountRule final : public StoppingRule {
 public:
  explicit CountRule(int64_t samples) : wanted_(samples) {}
  void add(double, Nanoseconds) override { ++samples_; }
  bool finished() const override { return samples_ >= wanted_; }
  std::string reason() const override;

 private:
  int64_t wanted_;
  int64_t samples_ = 0;
};

// Done after so much time.
class TimeRule final : public StoppingRule {
 public:
  explicit TimeRule(double seconds);
  void add(double, Nanoseconds elapsed) override { elapsed_ = elapsed; }
  bool finished() const override { return elapsed_ >= wanted_; }
  std::string reason() const override;

 private:
  Nanoseconds wanted_;
  Nanoseconds elapsed_{0};
};

// Mean and spread of a stream in constant memory: the samples are summed in 32 to 64 batches of
// equal length, which doubles when they are full, so that the half-width stays honest when
// neighbours are correlated.
class StreamingBatches {
 public:
  void add(double value);
  int64_t samples() const { return samples_; }
  double mean() const;
  double relative_stdev() const;  // of the samples; 0 for fewer than two
  // The 95 % half-width of the mean relative to it: the widest of the t intervals from the batches
  // and from pairs and fours of them (while at least 8 are left). Infinite below 2 samples.
  double relative_half_width() const;

 private:
  static constexpr size_t kMost = 64;
  std::array<double, kMost> sums_{};
  size_t full_ = 0;      // batches that are complete
  int64_t length_ = 1;   // samples in a batch
  int64_t in_last_ = 0;  // samples in the batch being filled
  double last_sum_ = 0;
  int64_t samples_ = 0;
  double running_mean_ = 0;  // Welford
  double squares_ = 0;
};

// Done when the relative half-width of the mean's 95 % interval is small enough.
class RelativeNoiseRule final : public StoppingRule {
 public:
  explicit RelativeNoiseRule(double max_noise, int64_t min_samples = 10);
  void add(double value, Nanoseconds elapsed) override;
  bool finished() const override { return noise_ <= max_noise_; }
  std::string reason() const override;
  double noise() const { return noise_; }  // at the last check

 private:
  double max_noise_;
  StreamingBatches batches_;
  int64_t next_check_;
  double noise_;
};

// Done when the noise itself has stopped changing and the wanted half-width is out of reach: over
// the last 16 checks (the sample has grown 2.6-fold) the relative standard deviation stayed within
// 5 % of its mean, and at this noise reaching max_noise would need more than the time allowed. The
// idea is NVIDIA nvbench's "stdrel" criterion.
class ConvergedNoiseRule final : public StoppingRule {
 public:
  ConvergedNoiseRule(double max_noise, double max_time_s);
  void add(double value, Nanoseconds elapsed) override;
  bool finished() const override { return finished_; }
  std::string reason() const override;

 private:
  void check(Nanoseconds elapsed);

  static constexpr size_t kWindow = 16;
  double max_noise_;
  double max_time_s_;
  StreamingBatches batches_;
  std::array<double, kWindow> history_{};
  int64_t checks_ = 0;
  int64_t next_check_ = 16;
  bool finished_ = false;
  double needed_s_ = 0;
};

// The usual rule: (least samples and least time) and (small noise or hopeless noise), or the most
// time, or the most samples.
class CombinedRule final : public StoppingRule {
 public:
  explicit CombinedRule(const StoppingOptions& options);
  void add(double value, Nanoseconds elapsed) override;
  bool finished() const override;
  std::string reason() const override;
  // Whether it ended with the wanted noise: what is not is marked noisy.
  bool quiet() const { return relative_.finished(); }
  double noise() const { return relative_.noise(); }

 private:
  CountRule least_samples_;
  CountRule most_samples_;
  TimeRule least_time_;
  TimeRule most_time_;
  RelativeNoiseRule relative_;
  ConvergedNoiseRule converged_;
};

}  // namespace assay

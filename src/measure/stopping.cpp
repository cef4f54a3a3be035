// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "base/units.h"
#include "measure/distribution.h"
#include "measure/two_digits.h"

namespace assay {
namespace {

constexpr double kConfidence = 0.95;
constexpr size_t kFewestBatches = 8;
constexpr double kSteady = 0.05;  // of the noise, between the least and the largest of the window

Nanoseconds from_seconds(double seconds) {
  return std::chrono::duration_cast<Nanoseconds>(Seconds(seconds));
}

double to_seconds(Nanoseconds duration) { return Seconds(duration).count(); }

int64_t later_check(int64_t samples) { return samples + std::max<int64_t>(1, samples / 16); }

// The t half-width of the mean of `parts`.
double half_width_of(std::span<const double> parts) {
  const auto n = static_cast<double>(parts.size());
  double sum = 0;
  for (const double part : parts) sum += part;
  const double center = sum / n;
  double squares = 0;
  for (const double part : parts) squares += (part - center) * (part - center);
  return student_t_quantile((1 + kConfidence) / 2, n - 1) * std::sqrt(squares / (n - 1) / n);
}

}  // namespace

std::string CountRule::reason() const {
  if (finished()) return fmt::format("{} samples", samples_);
  return fmt::format("{} of {} samples", samples_, wanted_);
}

TimeRule::TimeRule(double seconds) : wanted_(from_seconds(seconds)) {}

std::string TimeRule::reason() const {
  const std::string wanted = human_seconds(to_seconds(wanted_));
  if (finished()) return wanted + " have passed";
  return fmt::format("{} of {}", human_seconds(to_seconds(elapsed_)), wanted);
}

void StreamingBatches::add(double value) {
  ++samples_;
  const double delta = value - running_mean_;
  running_mean_ += delta / static_cast<double>(samples_);
  squares_ += delta * (value - running_mean_);
  last_sum_ += value;
  if (++in_last_ < length_) return;
  sums_[full_++] = last_sum_;
  last_sum_ = 0;
  in_last_ = 0;
  if (full_ < kMost) return;
  for (size_t i = 0; i < kMost / 2; ++i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  full_ = kMost / 2;
  length_ *= 2;
}

double StreamingBatches::mean() const { return running_mean_; }

double StreamingBatches::relative_stdev() const {
  if (samples_ < 2 || running_mean_ == 0) return 0;
  return std::sqrt(squares_ / static_cast<double>(samples_ - 1)) / std::fabs(running_mean_);
}

double StreamingBatches::relative_half_width() const {
  if (full_ < 2 || running_mean_ == 0) return std::numeric_limits<double>::infinity();
  std::array<double, kMost> means{};
  size_t count = full_;
  for (size_t i = 0; i < count; ++i) means[i] = sums_[i] / static_cast<double>(length_);
  double widest = half_width_of(std::span(means).first(count));
  for (int merge = 0; merge < 2 && count / 2 >= kFewestBatches; ++merge) {
    count /= 2;
    for (size_t i = 0; i < count; ++i) means[i] = (means[2 * i] + means[2 * i + 1]) / 2;
    widest = std::max(widest, half_width_of(std::span(means).first(count)));
  }
  return widest / std::fabs(running_mean_);
}

RelativeNoiseRule::RelativeNoiseRule(double max_noise, int64_t min_samples)
    : max_noise_(max_noise),
      next_check_(std::max<int64_t>(2, min_samples)),
      noise_(std::numeric_limits<double>::infinity()) {}

void RelativeNoiseRule::add(double value, Nanoseconds) {
  batches_.add(value);
  if (batches_.samples() < next_check_) return;
  noise_ = batches_.relative_half_width();
  next_check_ = later_check(batches_.samples());
}

std::string RelativeNoiseRule::reason() const {
  if (!std::isfinite(noise_)) return "too few samples to know the noise";
  return fmt::format("noise {} % is {} {} %", two_digits(100 * noise_),
                     finished() ? "at most" : "above", two_digits(100 * max_noise_));
}

ConvergedNoiseRule::ConvergedNoiseRule(double max_noise, double max_time_s)
    : max_noise_(max_noise), max_time_s_(max_time_s) {}

void ConvergedNoiseRule::add(double value, Nanoseconds elapsed) {
  batches_.add(value);
  if (batches_.samples() < next_check_) return;
  next_check_ = later_check(batches_.samples());
  check(elapsed);
}

void ConvergedNoiseRule::check(Nanoseconds elapsed) {
  history_[static_cast<size_t>(checks_++) % kWindow] = batches_.relative_stdev();
  if (checks_ < static_cast<int64_t>(kWindow)) return;
  const auto [least, most] = std::minmax_element(history_.begin(), history_.end());
  const bool steady = *most - *least <= kSteady * (*most + *least) / 2;
  const double excess = batches_.relative_half_width() / max_noise_;
  // The half-width falls with the root of the number of samples, hence of the time.
  needed_s_ = to_seconds(elapsed) * excess * excess;
  finished_ = steady && needed_s_ > max_time_s_;
}

std::string ConvergedNoiseRule::reason() const {
  const double noise = 100 * batches_.relative_stdev();
  if (!finished_)
    return fmt::format("the noise ({} % a sample) has not settled", two_digits(noise));
  return fmt::format(
      "the noise has settled at {} % a sample: {} % of the mean would take {}, {} are "
      "allowed",
      two_digits(noise), two_digits(100 * max_noise_), human_seconds(needed_s_),
      human_seconds(max_time_s_));
}

CombinedRule::CombinedRule(const StoppingOptions& options)
    : least_samples_(options.min_samples),
      most_samples_(options.max_samples),
      least_time_(options.min_time_s),
      most_time_(options.max_time_s),
      relative_(options.max_noise, options.min_samples),
      converged_(options.max_noise, options.max_time_s) {}

void CombinedRule::add(double value, Nanoseconds elapsed) {
  least_samples_.add(value, elapsed);
  most_samples_.add(value, elapsed);
  least_time_.add(value, elapsed);
  most_time_.add(value, elapsed);
  relative_.add(value, elapsed);
  converged_.add(value, elapsed);
}

bool CombinedRule::finished() const {
  if (most_time_.finished() || most_samples_.finished()) return true;
  return least_samples_.finished() && least_time_.finished() &&
         (relative_.finished() || converged_.finished());
}

std::string CombinedRule::reason() const {
  if (relative_.finished() && least_samples_.finished() && least_time_.finished()) {
    return relative_.reason();
  }
  if (most_time_.finished()) return most_time_.reason() + "; " + relative_.reason();
  if (most_samples_.finished()) return most_samples_.reason() + "; " + relative_.reason();
  if (!least_samples_.finished()) return least_samples_.reason();
  if (!least_time_.finished()) return least_time_.reason();
  return converged_.finished() ? converged_.reason() : relative_.reason();
}

}  // namespace assay

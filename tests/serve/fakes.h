// SPDX-License-Identifier: Apache-2.0
//
// A clock that carries out what is due while one sleeps on it, systems that answer in its time, and
// a library that watches what is loaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "serve/issue.h"
#include "serve/system.h"

namespace assay::fake {

inline Nanoseconds us(int64_t count) { return std::chrono::microseconds(count); }
inline Nanoseconds ms(int64_t count) { return std::chrono::milliseconds(count); }

class EventClock final : public Clock {
 public:
  Nanoseconds now() const override { return now_; }
  std::chrono::milliseconds unix_time() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now_ + wall_step);
  }
  void sleep(Nanoseconds duration) const override { run_until(now_ + duration); }

  void at(Nanoseconds time, std::function<void()> what) const {
    events_.emplace(time, std::move(what));
  }
  void run_all() const {
    while (!events_.empty()) run_until(events_.begin()->first);
  }
  void run_until(Nanoseconds time) const {
    while (!events_.empty() && events_.begin()->first <= time) {
      const auto event = events_.extract(events_.begin());
      now_ = std::max(now_, event.key());
      event.mapped()();
    }
    now_ = std::max(now_, time);
  }
  void forget_all() const { events_.clear(); }

  Nanoseconds wall_step{0};  // somebody set the wall clock

 private:
  mutable Nanoseconds now_{ms(5000)};
  mutable std::multimap<Nanoseconds, std::function<void()>> events_;
};

// Answers within issue(): the clock moves by the service time of that query.
class Immediate : public SystemUnderTest {
 public:
  Immediate(const EventClock& clock, std::function<Nanoseconds(size_t)> service)
      : clock_(clock), service_(std::move(service)) {}
  std::string name() const override { return "immediate"; }
  Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
    issued.emplace_back(query.begin(), query.end());
    clock_.sleep(service_(issued.size() - 1));
    done.complete(query);
    return {};
  }
  Result<void> drain() override {
    ++drained;
    return {};
  }
  void abandon() override { ++abandoned; }

  std::vector<std::vector<QuerySample>> issued;
  int drained = 0;
  int abandoned = 0;

 private:
  const EventClock& clock_;
  std::function<Nanoseconds(size_t)> service_;
};

// One server with a queue: first come, first served, `service` a sample.
class Queue : public SystemUnderTest {
 public:
  Queue(const EventClock& clock, Nanoseconds service) : clock_(clock), service_(service) {}
  std::string name() const override { return "queue"; }
  Result<void> issue(std::span<const QuerySample> query, Completions& done) override {
    ++calls;
    for (const QuerySample& sample : query) {
      free_at_ = std::max(free_at_, clock_.now()) + service_;
      clock_.at(free_at_, [&done, sample] { done.complete(std::span(&sample, 1)); });
    }
    return {};
  }
  Result<void> drain() override {
    clock_.run_all();
    return {};
  }
  void abandon() override {
    clock_.forget_all();
    free_at_ = Nanoseconds(0);
    ++abandoned;
  }

  int calls = 0;
  int abandoned = 0;

 private:
  const EventClock& clock_;
  Nanoseconds service_;
  Nanoseconds free_at_{0};
};

class Library : public SampleLibrary {
 public:
  explicit Library(int64_t total, int64_t loaded = 0) : total_(total), loaded_(loaded) {}
  std::string name() const override { return "library"; }
  int64_t total_count() const override { return total_; }
  int64_t performance_count() const override { return loaded_ > 0 ? loaded_ : total_; }
  Result<void> load(std::span<const uint32_t> indices) override {
    if (refuses) return Error{ErrorCode::kIo, "the disk is gone", "library"};
    for (const uint32_t index : indices) {
      if (!held.insert(index).second) ++loaded_twice;
    }
    most_held = std::max(most_held, held.size());
    return {};
  }
  void unload(std::span<const uint32_t> indices) override {
    for (const uint32_t index : indices) held.erase(index);
  }

  bool refuses = false;
  std::set<uint32_t> held;
  size_t most_held = 0;
  int loaded_twice = 0;

 private:
  int64_t total_;
  int64_t loaded_;
};

inline LoadOptions told() {
  LoadOptions options;
  options.spin = Nanoseconds(0);  // the clock moves only when slept on
  return options;
}

}  // namespace assay::fake

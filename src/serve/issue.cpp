// SPDX-License-Identifier: Apache-2.0
#include "serve/issue.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "base/units.h"
#include "serve/early_stopping.h"

namespace assay {
namespace {

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Linux lets a sleep of an ordinary thread end 50 us late; this thread asks for 1 ns.
class PunctualSleep {
 public:
  PunctualSleep() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1UL); }
  ~PunctualSleep() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
  }
  PunctualSleep(const PunctualSleep&) = delete;
  PunctualSleep& operator=(const PunctualSleep&) = delete;

 private:
  int before_;
};

Error cancelled() { return {ErrorCode::kCancelled, "the load test was cancelled"}; }

class Issuer {
 public:
  explicit Issuer(const IssueJob& job)
      : job_(job), queries_(static_cast<size_t>(job.plan.queries())) {
    batch_.reserve(static_cast<size_t>(job.plan.samples_per_query));
  }

  Result<Issued> run() {
    // Written once before the start, so that no page is touched for the first time while queries
    // run.
    issued_.scheduled_ns.resize(queries_);
    if (job_.settings.scenario == Scenario::kServer) issued_.delay_ns.resize(queries_);
    issued_.start = job_.clock.now();
    Result<void> outcome;
    switch (job_.settings.scenario) {
      case Scenario::kSingleStream:
      case Scenario::kMultiStream:
        outcome = stream();
        break;
      case Scenario::kServer:
        outcome = server();
        break;
      case Scenario::kOffline:
        outcome = offline();
        break;
    }
    if (outcome.ok() && !issued_.abandoned) outcome = job_.system.drain();
    if (!outcome.ok() || issued_.abandoned) job_.system.abandon();
    if (auto error = job_.done.error()) return *std::move(error);
    if (!outcome.ok()) return outcome.error();
    issued_.scheduled_ns.resize(count_);
    if (!issued_.delay_ns.empty()) issued_.delay_ns.resize(count_);
    return std::move(issued_);
  }

 private:
  bool performance() const { return job_.settings.mode != LoadMode::kAccuracy; }
  Nanoseconds elapsed() const { return job_.clock.now() - issued_.start; }
  bool is_cancelled() const { return job_.options.cancelled && job_.options.cancelled(); }

  void append(size_t query) {
    auto id = static_cast<uint32_t>(query) * static_cast<uint32_t>(job_.plan.samples_per_query) +
              job_.first_id;
    for (const uint32_t index : job_.plan.query(static_cast<int64_t>(query))) {
      batch_.push_back({id++, index});
    }
  }

  // A limit of the settings that the run has reached.
  bool limit_reached() {
    const EffectiveSettings& settings = job_.settings;
    if (settings.max_query_count > 0 && count_ >= static_cast<size_t>(settings.max_query_count)) {
      issued_.ended_early = fmt::format("max_query_count of {} was reached", count_);
    } else if (settings.max_duration.count() > 0 && issued_.last_issue > settings.max_duration) {
      issued_.ended_early =
          fmt::format("max_duration of {} ms was reached", settings.max_duration.count());
    }
    return !issued_.ended_early.empty();
  }

  Result<void> stream() {
    const EffectiveSettings& settings = job_.settings;
    const auto step = static_cast<uint32_t>(job_.plan.samples_per_query);
    for (size_t query = 0; query < queries_; ++query) {
      if (is_cancelled()) return cancelled();
      batch_.clear();
      append(query);
      issued_.last_issue = elapsed();
      issued_.scheduled_ns[query] = issued_.last_issue.count();
      count_ = query + 1;
      ASSAY_TRY(job_.system.issue(batch_, job_.done));
      job_.done.wait_for(static_cast<uint32_t>(count_) * step);
      if (job_.done.failed()) return {};
      if (!performance()) continue;
      if (count_ >= static_cast<size_t>(settings.min_query_count) &&
          issued_.last_issue >= settings.target_duration) {
        return {};
      }
      if (limit_reached()) return {};
    }
    if (performance()) {
      issued_.ended_early =
          "the planned queries ran out: the system is faster than twice the expected latency says";
    }
    return {};
  }

  Result<void> offline() {
    append(0);
    issued_.last_issue = elapsed();
    count_ = 1;
    return job_.system.issue(batch_, job_.done);
  }

  Result<void> server() {
    const PunctualSleep punctual;
    const std::vector<Nanoseconds>& arrivals = job_.plan.arrivals;
    const int64_t bearable = bearable_late();
    while (count_ < queries_) {
      if (is_cancelled()) return cancelled();
      wait_until(job_.clock, issued_.start + arrivals[count_], job_.options.spin);
      const Nanoseconds now = elapsed();
      batch_.clear();
      do {
        append(count_);
        issued_.scheduled_ns[count_] = arrivals[count_].count();
        issued_.delay_ns[count_] = (now - arrivals[count_]).count();
        ++count_;
      } while (job_.coalesce && count_ < queries_ && arrivals[count_] <= now);
      issued_.last_issue = now;
      ASSAY_TRY(job_.system.issue(batch_, job_.done));
      if (job_.done.failed()) return {};
      if (!performance()) continue;
      if (limit_reached() || falls_behind(bearable)) return {};
    }
    return {};
  }

  // How many late queries leave the whole run a chance to be valid.
  int64_t bearable_late() const {
    constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
    if (!job_.options.abandon_hopeless || !performance()) return kAny;
    return most_over(static_cast<int64_t>(queries_), job_.settings.percentile).value_or(kAny);
  }

  bool falls_behind(int64_t bearable) {
    const auto answered = static_cast<int64_t>(job_.done.answered());
    const int64_t waiting = static_cast<int64_t>(count_) - answered;
    const int64_t most = job_.settings.max_async_queries;
    if (most > 0 && waiting > most) {
      issued_.ended_early =
          fmt::format("{} queries wait for an answer, max_async_queries is {}", waiting, most);
      return true;
    }
    // Of the queries that are older than the limit at most `answered` were answered in time.
    const Nanoseconds limit = job_.settings.target_latency;
    while (old_ < count_ && job_.plan.arrivals[old_] + limit < issued_.last_issue) ++old_;
    const int64_t late = static_cast<int64_t>(old_) - answered;
    if (late <= bearable) return false;
    issued_.abandoned = true;
    issued_.ended_early = fmt::format(
        "given up after {}: {} of {} queries are unanswered beyond the limit, {} of {} planned "
        "ones "
        "may be late",
        human_seconds(Seconds(issued_.last_issue).count()), late, count_, bearable, queries_);
    return true;
  }

  const IssueJob& job_;
  size_t queries_;
  std::vector<QuerySample> batch_;
  Issued issued_;
  size_t count_ = 0;  // queries issued
  size_t old_ = 0;    // queries that arrived longer ago than the latency limit
};

}  // namespace

void wait_until(const Clock& clock, Nanoseconds time, Nanoseconds spin) {
  for (;;) {
    const Nanoseconds rest = time - clock.now();
    if (rest <= Nanoseconds(0)) return;
    if (rest > spin) {
      clock.sleep(rest - spin);
    } else {
      pause_core();
    }
  }
}

Result<Issued> issue_queries(const IssueJob& job) { return Issuer(job).run(); }

}  // namespace assay

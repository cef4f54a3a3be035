// SPDX-License-Identifier: Apache-2.0
//
// Completions: where a system reports its answers. The time is read first, on the reporting thread,
// once a call; an answer then costs one store, a call one atomic addition (bench/serve). Answers
// that are kept are copied under a lock: in accuracy runs, and a share of them in performance runs.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace assay {

struct QuerySample {
  uint32_t id = 0;     // the number of the sample in the run
  uint32_t index = 0;  // of the library
};

struct QueryResponse {
  uint32_t id = 0;
  std::span<const std::byte> data = {};
};

struct KeptResponse {
  uint32_t id = 0;
  std::string data;
};

class Completions {
 public:
  // For samples first_id ... first_id + count - 1. `kept` are the ids whose data is kept,
  // ascending.
  struct Range {
    uint32_t first_id = 0;
    uint32_t count = 0;
  };
  Completions(const Clock& clock, Range range, std::vector<uint32_t> kept);

  void complete(std::span<const QueryResponse> responses);
  void complete(std::span<const QuerySample> samples);  // without data
  // The system cannot go on: ends the run with this error.
  void fail(Error error);

  // For the one who issues.
  uint32_t answered() const { return state_.load(std::memory_order_acquire) & ~kFailed; }
  bool failed() const { return (state_.load(std::memory_order_acquire) & kFailed) != 0; }
  // Returns when so many are answered or the system failed.
  void wait_for(uint32_t answers) const;

  // After drain() or abandon(): when each sample was answered (kPending: never), what was kept in
  // the order of ids, and what went wrong: a failure, or an answer nobody asked for.
  static constexpr int64_t kPending = INT64_MIN;
  std::vector<int64_t> take_times();
  std::vector<KeptResponse> take_responses();
  std::optional<Error> error() const;

 private:
  static constexpr uint32_t kFailed = uint32_t{1} << 31;
  void record(uint32_t id, int64_t now_ns, std::span<const std::byte> data);
  void count(size_t answers);

  const Clock* clock_;
  uint32_t first_id_;
  std::vector<int64_t> done_at_ns_;
  std::vector<uint32_t> kept_;
  std::atomic<uint32_t> state_{0};  // answers, and a bit for failure
  mutable std::mutex mutex_;
  std::vector<KeptResponse> responses_;
  std::optional<Error> error_;
};

}  // namespace assay

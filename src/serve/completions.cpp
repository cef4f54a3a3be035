// SPDX-License-Identifier: Apache-2.0
#include "serve/completions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace assay {

Completions::Completions(const Clock& clock, Range range, std::vector<uint32_t> kept)
    : clock_(&clock),
      first_id_(range.first_id),
      done_at_ns_(range.count, kPending),
      kept_(std::move(kept)) {
  ASSAY_ASSERT(range.count < kFailed, "more samples than can be counted");
  responses_.reserve(kept_.size());
}

void Completions::record(uint32_t id, int64_t now_ns, std::span<const std::byte> data) {
  const uint32_t slot = id - first_id_;
  if (slot >= done_at_ns_.size()) [[unlikely]] {
    fail({ErrorCode::kInvalid, fmt::format("an answer for sample {}, which was not asked", id)});
    return;
  }
  if (done_at_ns_[slot] != kPending) [[unlikely]] {
    fail({ErrorCode::kInvalid, fmt::format("sample {} was answered twice", id)});
    return;
  }
  done_at_ns_[slot] = now_ns;
  if (kept_.empty() || !std::binary_search(kept_.begin(), kept_.end(), id)) return;
  const std::scoped_lock lock(mutex_);
  responses_.push_back({id, {reinterpret_cast<const char*>(data.data()), data.size()}});
}

void Completions::count(size_t answers) {
  state_.fetch_add(static_cast<uint32_t>(answers), std::memory_order_release);
  state_.notify_one();
}

void Completions::complete(std::span<const QueryResponse> responses) {
  const int64_t now = clock_->now().count();
  for (const QueryResponse& response : responses) record(response.id, now, response.data);
  count(responses.size());
}

void Completions::complete(std::span<const QuerySample> samples) {
  const int64_t now = clock_->now().count();
  for (const QuerySample& sample : samples) record(sample.id, now, {});
  count(samples.size());
}

void Completions::fail(Error error) {
  {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  state_.fetch_or(kFailed, std::memory_order_release);
  state_.notify_one();
}

void Completions::wait_for(uint32_t answers) const {
  for (;;) {
    const uint32_t state = state_.load(std::memory_order_acquire);
    if ((state & kFailed) != 0 || state >= answers) return;
    state_.wait(state, std::memory_order_acquire);
  }
}

std::vector<int64_t> Completions::take_times() {
  answered();  // what other threads stored before they counted is seen
  return std::move(done_at_ns_);
}

std::vector<KeptResponse> Completions::take_responses() {
  const std::scoped_lock lock(mutex_);
  std::sort(responses_.begin(), responses_.end(),
            [](const KeptResponse& a, const KeptResponse& b) { return a.id < b.id; });
  return std::move(responses_);
}

std::optional<Error> Completions::error() const {
  const std::scoped_lock lock(mutex_);
  return error_;
}

}  // namespace assay

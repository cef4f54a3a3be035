// SPDX-License-Identifier: Apache-2.0
#include "data/prefetch.h"

#include <pthread.h>

#include <exception>
#include <utility>

namespace assay {

PrefetchedSource::PrefetchedSource(std::unique_ptr<BatchSource> source, int depth,
                                   const Clock& clock)
    : source_(std::move(source)), clock_(clock), ring_(static_cast<size_t>(depth)) {
  ASSAY_ASSERT(depth > 0, "the prefetch depth is not positive");
}

PrefetchedSource::~PrefetchedSource() { stop(); }

void PrefetchedSource::start() {
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void PrefetchedSource::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void PrefetchedSource::run() {
  ::pthread_setname_np(::pthread_self(), "assay-prefetch");
  while (true) {
    Batch* slot = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || made_ - taken_ < ring_.size(); });
      if (stopping_) return;
      slot = &ring_[made_ % ring_.size()];
    }
    // The slot is the thread's own until made_ moves: filled without the lock.
    Result<bool> more = [&]() -> Result<bool> {
      try {
        return source_->next(*slot);
      } catch (const std::exception& error) {  // would end the process here
        return Error{ErrorCode::kInternal, error.what(), "input pipeline"};
      }
    }();
    const std::scoped_lock lock(mutex_);
    if (!more.ok() || !*more) {
      ending_ = std::move(more);
      changed_.notify_all();
      return;
    }
    ++made_;
    changed_.notify_all();
  }
}

Result<bool> PrefetchedSource::next(Batch& batch) {
  if (!thread_.joinable()) start();
  std::unique_lock lock(mutex_);
  if (made_ == taken_ && !ending_) {
    const Nanoseconds begin = clock_.now();
    changed_.wait(lock, [this] { return made_ != taken_ || ending_; });
    waited_ += clock_.now() - begin;
  }
  if (made_ == taken_) return *ending_;
  std::swap(batch, ring_[taken_ % ring_.size()]);
  ++taken_;
  changed_.notify_all();
  return true;
}

Result<void> PrefetchedSource::skip_to(int64_t step) {
  stop();
  made_ = 0;
  taken_ = 0;
  ending_.reset();
  return source_->skip_to(step);
}

}  // namespace assay

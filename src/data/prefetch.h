// SPDX-License-Identifier: Apache-2.0
//
// PrefetchedSource: another source, run ahead on a thread of its own. Batches are swapped, not
// copied: those the consumer hands back are filled again, so nothing is allocated in steady state.
// One consumer. The wrapped source is touched by the thread only, or while the thread rests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "data/batch.h"

namespace assay {

class PrefetchedSource final : public BatchSource {
 public:
  // Keeps up to `depth` batches ready; `clock` outlives this. The thread starts with the first
  // next().
  PrefetchedSource(std::unique_ptr<BatchSource> source, int depth, const Clock& clock);
  ~PrefetchedSource() override;

  // Errors of the wrapped source come out here, after the batches before them; after an error or
  // the end the same answer is given again until skip_to().
  Result<bool> next(Batch& batch) override;
  Result<void> skip_to(int64_t step) override;
  // How long next() has waited in all, since the start.
  Nanoseconds wait_time() const { return waited_; }

 private:
  void start();
  void stop();
  void run();

  std::unique_ptr<BatchSource> source_;
  const Clock& clock_;
  std::thread thread_;
  Nanoseconds waited_{0};

  // A ring: slots [taken_, made_) are ready, the thread fills slot made_.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Batch> ring_;
  uint64_t made_ = 0;
  uint64_t taken_ = 0;
  bool stopping_ = false;
  std::optional<Result<bool>> ending_;  // false at the end, or an error
};

}  // namespace assay

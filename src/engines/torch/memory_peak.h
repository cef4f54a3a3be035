// SPDX-License-Identifier: Apache-2.0
//
// MemoryPeak: the most bytes that libtorch's allocators had handed out at once in a scope, above
// what they had at its start. Costs a callback an allocation, so it watches one batch, not every
// one. Source: c10::MemoryReportingInfoBase, what torch.profiler uses.
#pragma once

#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace assay::torch_engine {

class MemoryPeak {
 public:
  MemoryPeak()
      : counter_(std::make_shared<Counter>()),
        guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
  int64_t bytes() const { return counter_->peak; }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void* /*memory*/, int64_t size, size_t /*allocated*/,
                           size_t /*reserved*/, c10::Device /*device*/) override {
      now += size;
      peak = now > peak ? now : peak;
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t now = 0;
    int64_t peak = 0;
  };
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace assay::torch_engine

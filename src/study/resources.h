// SPDX-License-Identifier: Apache-2.0
//
// What a timed run used beside time: largest resident size and energy. Readings are taken at both
// ends only. Costs well below a millisecond. Not thread-safe.
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "graph/tensor.h"
#include "machine/energy.h"
#include "machine/nvml.h"
#include "record/record.h"

namespace assay {

class ResourceWatch {
 public:
  // Sets the process' peak back first, so that an earlier case of this worker does not count.
  // `clock` outlives it; a GPU's energy counts when the run is on one.
  ResourceWatch(const Clock& clock, const Device& device);
  // Adds peak_rss_bytes and energy_joules, or why they are missing.
  void finish(Record& record);

 private:
  Result<Nvml> nvml_;
  EnergyMeter energy_;
  bool peak_reset_ = false;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Where trained weights lie: FOLDER/<digest>/<workload>-<variant>-<precision>-seed<N>.safetensors,
// so that weights of another recipe, data set or size are never taken for these.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "record/case.h"
#include "study/protocol.h"

namespace assay {

// Where training with this digest leaves its weights.
std::filesystem::path checkpoint_folder_of(const RunRequest& request, const std::string& digest);

struct FoundWeights {
  std::filesystem::path file;  // empty: none
  NamedTensors tensors;
  std::string reason;  // why there are none, and what mends it
  bool found() const { return !file.empty(); }
};

// Those of the request, or the newest that training with this digest left (f32 ones first: weights
// of another precision would blur what this one costs). An error when named weights cannot be read
// or are of another digest.
Result<FoundWeights> find_weights(const RunRequest& request, const std::string& digest,
                                  const Case& wanted);

}  // namespace assay

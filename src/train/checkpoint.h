// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint: everything a training run needs to go on bit for bit (parameters, states, optimiser
// state, step) or an inference run to start from trained weights. A safetensors file, written
// whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "engine/engine.h"

namespace assay {

struct Checkpoint {
  std::string workload;
  std::string variant;
  std::string precision;
  uint64_t seed = 0;
  std::string digest;  // of graph + recipe + data: what it belongs to
  int64_t step = 0;    // optimiser steps done
  std::optional<double> quality;
  std::string code_version;
  NamedTensors tensors;
};

// FOLDER/<workload>-<variant>-<precision>-seed<k>.safetensors
std::filesystem::path checkpoint_path(const std::filesystem::path& folder,
                                      const std::string& workload, const std::string& variant,
                                      const std::string& precision, uint64_t seed);

// Creates the folder.
Result<void> write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

// kNotFound, kCorrupt, or kInvalid for a file of another format version.
Result<Checkpoint> read_checkpoint(const std::filesystem::path& file);

// kInvalid when the checkpoint was made by another network, recipe or data set.
Result<void> check_digest(const Checkpoint& checkpoint, const std::string& digest,
                          const std::filesystem::path& file);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "study/checkpoints.h"

#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "record/digest.h"
#include "train/checkpoint.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// The best of a folder by (f32, time, name); empty when there is none.
fs::path newest(const fs::path& folder) {
  using Rank = std::tuple<bool, fs::file_time_type, std::string>;
  fs::path best;
  Rank best_rank;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::string name = entry.path().filename().string();
    Rank rank{name.find("-f32-") != std::string::npos, entry.last_write_time(ignored), name};
    if (!best.empty() && rank < best_rank) continue;
    best = entry.path();
    best_rank = std::move(rank);
  }
  return best;
}

}  // namespace

fs::path checkpoint_folder_of(const RunRequest& request, const std::string& digest) {
  return fs::path(request.checkpoint_folder) / short_digest(digest);
}

Result<FoundWeights> find_weights(const RunRequest& request, const std::string& digest,
                                  const Case& wanted) {
  FoundWeights weights;
  if (!request.checkpoint.empty())
    weights.file = request.checkpoint;
  else if (!request.checkpoint_folder.empty())
    weights.file = newest(checkpoint_folder_of(request, digest));
  if (weights.file.empty()) {
    weights.reason = fmt::format(
        "there are no trained weights; 'assay train {}' makes them, --checkpoint names others",
        wanted.get("workload"));
    return weights;
  }
  Result<Checkpoint> read = read_checkpoint(weights.file);
  if (!read.ok()) {
    // Weights that were named must be good, and missing ones are no missing data set.
    Error error = read.error();
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kInvalid;
    return error;
  }
  ASSAY_TRY(check_digest(*read, digest, weights.file));
  weights.tensors = std::move(read->tensors);
  return weights;
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of data sets: what each is, on what terms, and whether it is there. Holds no data
// and caches nothing; thread-safe. Listing costs a few milliseconds (the cheap checks of each set).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "data/data_roots.h"

namespace assay {

enum class DatasetState : uint8_t { kReady, kNotPrepared, kMissing, kDamaged };
std::string_view dataset_state_name(DatasetState state);  // "ready", "not-prepared", ...
// Ready, or made so by whoever needs it.
bool is_usable(DatasetState state);

struct DatasetStatus {
  std::string name;     // "fashion-mnist"
  std::string title;    // one line: what it is
  std::string source;   // package or provider
  std::string license;  // SPDX, or the name of the terms
  std::string terms;    // one sentence for the user, printed by `assay data prepare`
  std::string path;     // where the prepared data are, or would be
  DatasetState state = DatasetState::kMissing;
  std::string reason;         // empty when ready
  std::string hint;           // the command that mends it; empty when ready
  std::optional<Bytes> size;  // of the prepared data, when there
};

class DatasetCatalogue {
 public:
  explicit DatasetCatalogue(DataRoots roots) : roots_(std::move(roots)) {}

  std::vector<DatasetStatus> list() const;
  // kNotFound names the nearest name.
  Result<DatasetStatus> status(std::string_view name) const;
  // Converts the packaged files; at once when ready and undamaged (every byte is checked).
  Result<DatasetStatus> prepare(std::string_view name) const;
  // Identifies the data in digests: SHA-256 of the pinned checksums of the packaged files or, for a
  // folder of images, of the names it holds (which lists the folder: seconds for a million files).
  Result<std::string> checksum(std::string_view name) const;

 private:
  DataRoots roots_;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// A store with what `study quick` leaves behind, made up but plausible: two training groups (one
// with a seed that stays short of its target), inference over batch sizes and precisions, a crash,
// counts of a network, contention, and text that would be markup if it were not escaped.
#pragma once

#include <filesystem>

#include "record/store.h"

namespace assay::sample_store {

inline constexpr const char* kHostile =
    "<script>window.hacked = 1</script>\"'&<img src=x onerror=alert(1)>";

// Fills a new database.
void fill(const std::filesystem::path& path);

}  // namespace assay::sample_store

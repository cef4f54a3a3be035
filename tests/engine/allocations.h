// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay {

// How often the calling thread has used operator new so far.
int64_t allocations();

}  // namespace assay

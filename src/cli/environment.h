// SPDX-License-Identifier: Apache-2.0
//
// The environment with the engines of this build in it: what `assay env` prints and what a run is
// stored with. Loads no engine.
#pragma once

#include "base/json_fwd.h"

namespace assay::cli {

Json environment_json();

}  // namespace assay::cli

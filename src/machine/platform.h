// SPDX-License-Identifier: Apache-2.0
//
// A machine in one line, for logs that ask for a name of the platform. Pure.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace assay {

// "2 x Intel(R) Xeon(R) Platinum 8480+, 8 x NVIDIA H200": processor packages and GPUs of an
// environment (machine/environment.h), as they name themselves; what does not is "unknown".
std::string platform_text(const Json& environment);

}  // namespace assay

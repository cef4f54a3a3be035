// SPDX-License-Identifier: Apache-2.0
//
// JSON as MLPerf's logs hold it. Pure.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace assay {

// Appends text as Python's json.dumps() writes it: separators ", " and ": ", ASCII only.
void write_json(const Json& json, std::string& out);

}  // namespace assay

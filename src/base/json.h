// SPDX-License-Identifier: Apache-2.0
//
// JSON is nlohmann's, with members kept in insertion order so that output is stable.
// Include this in .cpp files; headers take base/json_fwd.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fwd.h"

namespace assay {

// Parses text of an outside source; `place` names it in the error.
Result<Json> parse_json(std::string_view text, std::string_view place);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// What this program was built from and with. Constant; costs nothing.
#pragma once

#include <string>
#include <string_view>

namespace assay {

struct BuildInfo {
  std::string_view version;     // "0.1.0"
  std::string_view commit;      // "3245737a1b2c", "3245737a1b2c-modified"; empty: not from git
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view flags;       // of our own code
  std::string_view build_type;  // "Release"
  std::string_view sanitizers;  // empty: none
};

BuildInfo build_info();

// "0.1.0+3245737a1b2c": what a record names as its code version.
std::string code_version();

}  // namespace assay

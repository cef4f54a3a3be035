// SPDX-License-Identifier: Apache-2.0
//
// The one way to toml++, whose headers take seconds to compile: for the few files that read TOML,
// in their .cpp only. Without exceptions: its two modes do not mix in one program.
//
// toml++ 3.3 asserts, and in a release build lets the compiler assume, things about its input that
// bad input contradicts ("[# x]": fuzzing found it). The code behind each assumption reports the
// error properly when nothing is assumed.
#pragma once

#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expression) static_assert(true)

#include <string>
#include <string_view>

#include <toml++/toml.h>

#include "base/error.h"

namespace assay {

// "PLACE:LINE" of a node or of an error.
std::string toml_place(std::string_view place, const toml::source_region& source);

// kInvalid with place and line. Also refused: control characters, and lines of more than 4096 bytes
// (dotted keys nest tables, which are destroyed recursively).
Result<toml::table> parse_toml(std::string_view text, std::string_view place);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Results on stdout. A reader that has gone away (EPIPE) is not an error: the rest is dropped
// silently, as the command's work may be worth finishing. Any other failure (a full disk) is a
// UserError. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace assay::cli {

void write_result(std::string_view text);
void flush_results();

// An expected failure that this command cannot turn into a record becomes the user's error.
[[noreturn]] void fail(const Error& error);

template <class T>
T value_or_fail(Result<T> result) {
  if (!result.ok()) fail(result.error());
  return std::move(result).value();
}
inline void ok_or_fail(const Result<void>& result) {
  if (!result.ok()) fail(result.error());
}

// What is written at the end of a long run is refused before it begins: a UserError naming the
// option when `file` is a folder, or would lie in a folder that is not there or not writable.
void check_can_be_written(const std::string& file, const std::string& option);

// A remark on stderr: "warning: TEXT".
void warn(std::string_view text);

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// SQLite's exceptions as our errors. Used by store*.cpp only.
#pragma once

#include <filesystem>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "base/error.h"

namespace assay {

Error store_error(const SQLite::Exception& exception, const std::filesystem::path& path);

// The result of `body`, which returns a Result and may throw SQLite::Exception.
template <class Body>
auto guarded(const std::filesystem::path& path, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const SQLite::Exception& exception) {
    return store_error(exception, path);
  }
}

}  // namespace assay

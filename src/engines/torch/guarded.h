// SPDX-License-Identifier: Apache-2.0
//
// libtorch reports failures by throwing; nothing it throws crosses the engine's border.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <c10/util/Exception.h>

#include "base/error.h"

namespace assay::torch_engine {

// The first line of libtorch's words, without its stack trace.
Error error_from(const c10::Error& error, std::string place);

// Runs `body`, which returns a Result, and turns what is thrown into that Result's error.
template <class Body>
auto guarded(const std::string& place, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const c10::Error& error) {
    return error_from(error, place);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "out of memory", place};
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInternal, std::string("libtorch: ") + error.what(), place};
  }
}

}  // namespace assay::torch_engine

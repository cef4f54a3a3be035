// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/guarded.h"

#include <string_view>

namespace assay::torch_engine {

Error error_from(const c10::Error& error, std::string place) {
  std::string message = error.what_without_backtrace();
  message = message.substr(0, message.find('\n'));
  const bool no_memory = dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
                         message.find("can't allocate memory") != std::string::npos ||
                         message.find("not enough memory") != std::string::npos;
  const bool unsupported = dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr;
  const ErrorCode code = no_memory     ? ErrorCode::kOutOfMemory
                         : unsupported ? ErrorCode::kUnsupported
                                       : ErrorCode::kInternal;
  return {code, "libtorch: " + message, std::move(place)};
}

}  // namespace assay::torch_engine

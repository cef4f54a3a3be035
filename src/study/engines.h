// SPDX-License-Identifier: Apache-2.0
//
// The engines a worker has loaded: each is started once, as frameworks keep thread pools and
// caches. Not thread-safe.
#pragma once

#include <map>
#include <string>

#include "base/error.h"
#include "engine/plugin.h"

namespace assay {

class LoadedEngines {
 public:
  Result<EngineHandle> get(const std::string& name) {
    if (const auto found = engines_.find(name); found != engines_.end()) return found->second;
    ASSAY_ASSIGN(EngineHandle engine, load_engine(name));
    engines_[name] = engine;
    return engine;
  }

 private:
  std::map<std::string, EngineHandle> engines_;
};

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Whatever the text, a configuration is refused or gives settings that derive() judges.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mlperf/load_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::Scenario;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = assay::LoadConfig::parse(text, "fuzz", assay::ConfigSource::kRules);
  if (!config.ok()) return 0;
  for (const Scenario scenario :
       {Scenario::kSingleStream, Scenario::kMultiStream, Scenario::kServer, Scenario::kOffline}) {
    assay::LoadSettings settings;
    settings.scenario = scenario;
    if (config->apply("bert", settings).ok()) (void)assay::derive(settings, 64, 64);
  }
  return 0;
}

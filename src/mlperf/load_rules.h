// SPDX-License-Identifier: Apache-2.0
//
// What the rules of MLPerf Inference v6.1 fix for a load test, as lines of a configuration file:
// seeds, durations, percentiles, limits and counts by model. Models whose latency counts by token
// are in it only to be refused. tests/serve/make_golden.py compares with LoadGen.
#pragma once

#include <string_view>

namespace assay {

std::string_view load_rules_v6_1();

}  // namespace assay

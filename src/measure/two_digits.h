// SPDX-License-Identifier: Apache-2.0
//
// A rough number in a sentence. Pure.
#pragma once

#include <string>

namespace assay {

// "0.43", "9.4", "440": two digits, and all of them before the point: never an exponent for a noise
// of 440 % or a sample that took 440 times as long.
std::string two_digits(double value);

}  // namespace assay

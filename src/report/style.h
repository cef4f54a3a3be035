// SPDX-License-Identifier: Apache-2.0
//
// The look of the page and the little script that copies case lines and starts Plotly.
#pragma once

#include <string_view>

namespace assay {

std::string_view report_style();
std::string_view report_script();

}  // namespace assay

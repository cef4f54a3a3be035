// SPDX-License-Identifier: Apache-2.0
//
// The sections of the report, one file each in pages/.
#pragma once

#include <span>
#include <string_view>

#include "report/html.h"
#include "report/report_data.h"

namespace assay {

struct Page {
  std::string_view id;  // of the section, and in the address
  std::string_view title;
  bool (*applies)(const ReportData& data);
  void (*write)(const ReportData& data, Html& html);  // what follows the heading
};

namespace pages {
Page summary();
Page quality();
Page time_to_target();
Page inference();
Page counts();
Page steps();
Page environment();
Page remarks();
Page cases();
}  // namespace pages

// In the order of the page.
std::span<const Page> report_pages();

}  // namespace assay

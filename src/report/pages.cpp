// SPDX-License-Identifier: Apache-2.0
#include "report/pages.h"

#include <array>

namespace assay {

std::span<const Page> report_pages() {
  static const std::array<Page, 9> all = {
      pages::summary(),     pages::time_to_target(), pages::quality(),
      pages::inference(),   pages::counts(),         pages::steps(),
      pages::environment(), pages::remarks(),        pages::cases()};
  return all;
}

}  // namespace assay

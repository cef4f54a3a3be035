// SPDX-License-Identifier: Apache-2.0
//
// A plot in the page: the static SVG, what Plotly needs to draw it anew, and its numbers as a table
// that opens without scripts.
#pragma once

#include <string>

#include "report/html.h"
#include "report/plot.h"
#include "report/table.h"

namespace assay {

// `numbers` may have no rows: then its table stands elsewhere on the page.
void write_figure(Html& html, const Plot& plot, const HtmlTable& numbers);

}  // namespace assay

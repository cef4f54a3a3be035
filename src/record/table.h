// SPDX-License-Identifier: Apache-2.0
//
// Table: rows as people read them: only the shown fields that some row has, values with readable
// units, the status and its reason last; where nothing is measured, the status only when some row
// is not well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "record/schema.h"

namespace assay {

struct Table {
  struct Column {
    std::string title;
    bool is_number = false;  // aligned right
    bool is_status = false;  // coloured where colours are allowed
    std::vector<std::string> cells;
  };
  std::vector<Column> columns;
  size_t rows = 0;
};

Table make_table(const RowSchema& schema, const Json& rows);

// In columns aligned by display width; long texts continue below, so nothing is lost. With a width
// (a terminal's; 0 means a file) the widest text columns are narrowed until a line fits. One row
// that is wider than the width (100 in a file), and any rows that cannot be made to fit a terminal,
// are printed as one line a field instead.
std::string format_table(const Table& table, int width, bool colour);

// Columns a terminal needs for UTF-8 text: a code point is one, a combining mark none, a wide East
// Asian one two.
size_t display_width(std::string_view text);

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
//
// Table: rows as people read them: only the shown fields that some row has, values with readable
// units, the status and its reason last.
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

// Aligned by display width. With a width, the widest text columns are shortened ("…") until a line
// fits, but none below eight characters; what still does not fit is left to the terminal to wrap.
std::string format_table(const Table& table, int width, bool colour);

// Columns a terminal needs for UTF-8 text: a code point is one, a combining mark none, a wide East
// Asian one two.
size_t display_width(std::string_view text);

}  // namespace assay

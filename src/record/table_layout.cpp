// SPDX-License-Identifier: Apache-2.0
//
// How a table is laid out on a console: columns, or one line a field where columns do not fit.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "record/table.h"

namespace assay {
namespace {

constexpr size_t kNarrowest = 16;  // of a text column that is made to fit
constexpr size_t kWidest = 56;     // of a text column; longer texts continue on the next line
constexpr size_t kPage = 100;      // where there is no terminal
constexpr size_t kGap = 2;

struct CodePoint {
  uint32_t value = 0;
  size_t length = 1;
};

// Lenient: a byte that starts no valid sequence counts as one character.
CodePoint code_point(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length == 1 || at + length > text.size()) return {lead, 1};
  uint32_t value = lead & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    value = (value << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  }
  return {value, length};
}

size_t width_of(uint32_t c) {
  if (c < 0x20 || (c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200d)) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

// Lines of at most `width` columns, broken at blanks; a word that is longer is cut.
std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines{""};
  size_t used = 0;
  for (const std::string& word : split(text, ' ')) {
    const size_t length = display_width(word);
    if (used > 0 && used + 1 + length > width) {
      lines.emplace_back();
      used = 0;
    } else if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    for (size_t i = 0; i < word.size();) {
      const CodePoint c = code_point(word, i);
      const size_t columns = width_of(c.value);
      if (used > 0 && used + columns > width) {
        lines.emplace_back();
        used = 0;
      }
      lines.back() += std::string_view(word).substr(i, c.length);
      used += columns;
      i += c.length;
    }
  }
  return lines;
}

size_t total_width(const std::vector<size_t>& widths) {
  size_t sum = kGap * (widths.empty() ? 0 : widths.size() - 1);
  for (const size_t width : widths) sum += width;
  return sum;
}

size_t natural_width(const Table::Column& column) {
  size_t widest = display_width(column.title);
  for (const std::string& cell : column.cells) widest = std::max(widest, display_width(cell));
  return widest;
}

// Narrows the widest text columns until a line fits; false when even then it does not.
bool fit(std::vector<size_t>& widths, const Table& table, size_t available) {
  while (total_width(widths) > available) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const Table::Column& column = table.columns[i];
      const size_t least = std::max(kNarrowest, display_width(column.title));
      if (column.is_number || column.is_status || widths[i] <= least) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return false;
    --widths[widest];
  }
  return true;
}

std::string_view status_colour(std::string_view status) {
  if (status == "measured") return "\x1b[32m";
  if (status == "skipped" || status == "unsupported") return "\x1b[2m";
  if (status == "noisy" || status == "untrusted") return "\x1b[33m";
  return "\x1b[31m";
}

std::string painted(std::string text, std::string_view paint) {
  if (paint.empty()) return text;
  return std::string(paint) + text + "\x1b[0m";
}

std::string_view paint_of_cell(const Table::Column& column, const std::string& cell, bool colour) {
  return colour && column.is_status ? status_colour(cell) : "";
}

std::string_view paint_of_title(bool colour) { return colour ? "\x1b[1m" : ""; }

void append_trimmed(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

// One cell a column; long texts take several lines.
void append_row(std::string& out, const std::vector<size_t>& widths, const Table& table,
                const std::vector<std::string_view>& cells,
                const std::vector<std::string_view>& paints) {
  std::vector<std::vector<std::string>> lines;
  size_t height = 1;
  for (size_t i = 0; i < widths.size(); ++i) {
    lines.push_back(wrapped(cells[i], widths[i]));
    height = std::max(height, lines.back().size());
  }
  for (size_t line = 0; line < height; ++line) {
    std::string text;
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = line < lines[i].size() ? lines[i][line] : "";
      const std::string padding(widths[i] - std::min(widths[i], display_width(cell)), ' ');
      const std::string shown = cell.empty() ? cell : painted(cell, paints[i]);
      if (i > 0) text += std::string(kGap, ' ');
      text += table.columns[i].is_number ? padding + shown : shown + padding;
    }
    append_trimmed(out, std::move(text));
  }
}

std::string in_columns(const Table& table, const std::vector<size_t>& widths, bool colour) {
  std::string out;
  std::vector<std::string_view> cells;
  for (const Table::Column& column : table.columns) cells.emplace_back(column.title);
  append_row(out, widths, table, cells,
             std::vector<std::string_view>(cells.size(), paint_of_title(colour)));
  for (size_t row = 0; row < table.rows; ++row) {
    std::vector<std::string_view> paints;
    cells.clear();
    for (const Table::Column& column : table.columns) {
      cells.emplace_back(column.cells[row]);
      paints.push_back(paint_of_cell(column, column.cells[row], colour));
    }
    append_row(out, widths, table, cells, paints);
  }
  return out;
}

// "title  value", a line a field, with an empty line between rows.
std::string in_lines(const Table& table, size_t available, bool colour) {
  size_t indent = 0;
  for (const Table::Column& column : table.columns)
    indent = std::max(indent, display_width(column.title));
  indent += kGap;
  const size_t width = std::max(kNarrowest, available - std::min(available, indent));
  std::string out;
  for (size_t row = 0; row < table.rows; ++row) {
    if (row > 0) out += "\n";
    for (const Table::Column& column : table.columns) {
      const std::string& cell = column.cells[row];
      std::string lead = painted(column.title, paint_of_title(colour)) +
                         std::string(indent - display_width(column.title), ' ');
      for (const std::string& line : wrapped(cell, width)) {
        const std::string shown =
            line.empty() ? line : painted(line, paint_of_cell(column, cell, colour));
        append_trimmed(out, std::exchange(lead, std::string(indent, ' ')) + shown);
      }
    }
  }
  return out;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point(text, i);
    width += width_of(c.value);
    i += c.length;
  }
  return width;
}

std::string format_table(const Table& table, int width, bool colour) {
  if (table.rows == 0) return "nothing to show\n";
  const size_t page = width > 0 ? static_cast<size_t>(width) : kPage;
  std::vector<size_t> widths;
  for (const Table::Column& column : table.columns) widths.push_back(natural_width(column));
  // One row is read better downwards than along a line that wraps.
  if (table.rows == 1 && total_width(widths) > page) return in_lines(table, page, colour);
  for (size_t i = 0; i < widths.size(); ++i) {
    if (!table.columns[i].is_number) widths[i] = std::min(widths[i], kWidest);
  }
  // A file has no width to fit; a terminal that is too narrow for columns gets lines.
  if (width > 0 && !fit(widths, table, page)) return in_lines(table, page, colour);
  return in_columns(table, widths, colour);
}

}  // namespace assay

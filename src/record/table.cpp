// SPDX-License-Identifier: Apache-2.0
#include "record/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "record/formats.h"

namespace assay {
namespace {

constexpr size_t kNarrowest = 8;

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

// At most `width` columns, the last one "…" when something was cut.
std::string shortened(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point(text, i);
    if (used + width_of(c.value) + 1 > width) break;
    used += width_of(c.value);
    out += text.substr(i, c.length);
    i += c.length;
  }
  return out + "…";
}

// Control characters of outside texts must not reach a terminal.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

std::string grouped(double value) {
  const double size = std::fabs(value);
  if (value == std::floor(value) && size < 1e15) {
    std::string digits = fmt::format("{:.0f}", size);
    for (size_t at = digits.size(); at > 3;) {
      at -= 3;
      digits.insert(at, ",");
    }
    return (value < 0 ? "-" : "") + digits;
  }
  if (size >= 1000 && size < 1e15) return grouped(std::round(value));
  return fmt::format("{:.4g}", value);
}

std::string human_number(const Field& field, double value) {
  if (field.unit == "s") return human_seconds(value);
  if (field.unit == "ns") return human_seconds(value * 1e-9);
  if (field.unit == "bytes" && std::fabs(value) < 9e18) {
    return human_bytes(Bytes{static_cast<int64_t>(std::llround(value))});
  }
  if (field.unit == "flops") return human_count(value) + "FLOP";
  if (field.unit == "share") return fmt::format("{:.2f} %", 100 * value);
  if (field.unit == "per_s") return grouped(value) + "/s";
  if (field.unit == "joules") return grouped(value) + " J";
  if (field.unit == "watts") return grouped(value) + " W";
  if (field.unit == "usd") return "$" + fmt::format("{:.4g}", value);
  if (field.unit == "count" && field.type == FieldType::kNumber && std::fabs(value) >= 1e6) {
    return human_count(value);
  }
  return grouped(value);
}

std::string human_list(const Json& value) {
  std::vector<std::string> parts;
  for (const Json& entry : value) {
    if (entry.is_object()) {
      std::vector<std::string> words;
      for (const auto& [key, word] : entry.items()) {
        words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
      }
      parts.push_back(join(words, " "));
    } else {
      parts.push_back(entry.is_string() ? entry.get<std::string>() : entry.dump());
    }
  }
  const bool is_shape = !value.empty() && value.front().is_number();
  return is_shape ? join(parts, "×") : join(parts, ", ");
}

bool is_number(const Field& field) {
  return field.type == FieldType::kInteger || field.type == FieldType::kNumber;
}

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         (value.is_structured() && value.empty());
}

void fit(std::vector<size_t>& widths, const Table& table, size_t available) {
  const auto total = [&] {
    size_t sum = 2 * (widths.size() - 1);
    for (const size_t width : widths) sum += width;
    return sum;
  };
  while (total() > available) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const size_t least = std::max(kNarrowest, display_width(table.columns[i].title));
      if (table.columns[i].is_number || widths[i] <= least) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

std::string_view status_colour(std::string_view status) {
  if (status == "measured") return "\x1b[32m";
  if (status == "skipped" || status == "unsupported") return "\x1b[2m";
  if (status == "noisy" || status == "untrusted") return "\x1b[33m";
  return "\x1b[31m";
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

std::string human_value(const Field& field, const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return one_line(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return human_number(field, value.get<double>());
  if (value.is_array()) return one_line(human_list(value));
  return one_line(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Table make_table(const RowSchema& schema, const Json& rows) {
  Table table;
  table.rows = rows.size();
  std::vector<const Field*> fields;
  for (const Field& field : schema.fields) {
    if (field.shown && field.name != "status" && field.name != "reason") fields.push_back(&field);
  }
  fields.push_back(schema.field("status"));
  fields.push_back(schema.field("reason"));
  for (const Field* field : fields) {
    Table::Column column{field->name, is_number(*field), field->name == "status", {}};
    bool any = false;
    for (const Json& row : rows) {
      const auto found = row.find(field->name);
      const Json value = found == row.end() ? Json() : *found;
      any = any || !is_empty(value);
      column.cells.push_back(is_empty(value) && !value.is_null() ? "" : human_value(*field, value));
    }
    if (any) table.columns.push_back(std::move(column));
  }
  return table;
}

std::string format_table(const Table& table, int width, bool colour) {
  if (table.rows == 0) return "nothing to show\n";
  std::vector<size_t> widths;
  for (const Table::Column& column : table.columns) {
    size_t widest = display_width(column.title);
    for (const std::string& cell : column.cells) widest = std::max(widest, display_width(cell));
    widths.push_back(widest);
  }
  if (width > 0) fit(widths, table, static_cast<size_t>(width));
  std::string out;
  const auto add_line = [&](auto&& cell_of, bool is_header) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = shortened(cell_of(i), widths[i]);
      const std::string padding(widths[i] - display_width(cell), ' ');
      const bool painted = colour && (is_header || table.columns[i].is_status);
      const std::string_view paint = is_header ? "\x1b[1m" : status_colour(cell);
      std::string shown = painted ? std::string(paint) + cell + "\x1b[0m" : cell;
      if (i > 0) line += "  ";
      line += table.columns[i].is_number ? padding + shown : shown + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](size_t i) { return std::string_view(table.columns[i].title); }, true);
  for (size_t row = 0; row < table.rows; ++row) {
    add_line([&](size_t i) { return std::string_view(table.columns[i].cells[row]); }, false);
  }
  return out;
}

}  // namespace assay

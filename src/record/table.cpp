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

// "$12.30", "$0.25", "$0.000037": cents, or two digits of what is less.
std::string human_dollars(double value) {
  const double size = std::fabs(value);
  if (size == 0 || size >= 0.1) return fmt::format("${:.2f}", value);
  const int decimals = std::min(15, 1 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("${:.{}f}", value, decimals);
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
  if (field.unit == "usd") return human_dollars(value);
  if (field.unit == "count" && field.type == FieldType::kNumber && std::fabs(value) >= 1e6) {
    return human_count(value);
  }
  // Qualities stand below each other: 0.9150 and 0.9184.
  const double size = std::fabs(value);
  if (field.unit.empty() && size >= 0.001 && size < 1) return fmt::format("{:.4f}", value);
  return grouped(value);
}

// A text speaks for itself; of a number one must know what it counts.
std::string human_member(const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (key.ends_with("_bytes") && value.is_number_integer())
    return key.substr(0, key.size() - 6) + " " + human_bytes(Bytes{value.get<int64_t>()});
  return key + " " + value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string human_list(const Json& value) {
  std::vector<std::string> parts;
  for (const Json& entry : value) {
    if (entry.is_object()) {
      std::vector<std::string> words;
      for (const auto& [key, word] : entry.items()) words.push_back(human_member(key, word));
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

}  // namespace

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
  // Where nothing is measured, only what is wrong is worth a column.
  const bool all_well = std::all_of(rows.begin(), rows.end(), [](const Json& row) {
    const auto status = row.find("status");
    return status != row.end() && *status == "measured";
  });
  const Field* status = schema.field("status");
  if (status->shown && (schema.measuring || !all_well)) fields.push_back(status);
  if (schema.field("reason")->shown) fields.push_back(schema.field("reason"));
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

}  // namespace assay

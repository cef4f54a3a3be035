// SPDX-License-Identifier: Apache-2.0
#include "record/formats.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include <sys/ioctl.h>

#include "base/json.h"
#include "record/table.h"

namespace assay {
namespace {

// Texts of outside sources may hold invalid UTF-8; it is replaced, never an exception.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_document(const RowSchema& schema, const Json& rows) {
  const Json document = {{"schema", "assay/1"}, {"command", schema.command}, {"rows", rows}};
  return dump(document, 2) + "\n";
}

std::string json_lines(const Json& rows) {
  std::string out;
  for (const Json& row : rows) out += dump(row, -1) + "\n";
  return out;
}

// Leaves of a value under dotted names, in order: {"a": [1, 2]} is a.0, a.1.
using Leaves = std::vector<std::pair<std::string, std::string>>;

void flatten(const std::string& name, const Json& value, Leaves& leaves) {
  if (value.is_structured()) {
    size_t index = 0;
    for (const auto& [key, entry] : value.items()) {
      flatten(name + "." + (value.is_array() ? std::to_string(index++) : key), entry, leaves);
    }
  } else if (value.is_string()) {
    leaves.emplace_back(name, value.get<std::string>());
  } else {
    leaves.emplace_back(name, value.is_null() ? "" : dump(value, -1));
  }
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// RFC 4180: CRLF, a header line; columns are the schema's fields, each list or object field
// replaced by the leaves that any row has, then the reasons in missing.FIELD.
std::string csv_document(const RowSchema& schema, const Json& rows) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;  // of the same index as names, one cell a row
  const auto column = [&](const std::string& name) -> std::vector<std::string>& {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return columns[i];
    }
    names.push_back(name);
    return columns.emplace_back(rows.size());
  };
  const auto add_field = [&](const std::string& field, bool is_structured) {
    if (!is_structured) column(field);
    for (size_t row = 0; row < rows.size(); ++row) {
      const auto found = rows[row].find(field);
      if (found == rows[row].end()) continue;
      Leaves leaves;
      flatten(field, *found, leaves);
      for (auto& [name, text] : leaves) {
        if (!is_structured || name != field) column(name)[row] = std::move(text);
      }
    }
  };
  for (const Field& field : schema.fields) {
    add_field(field.name, field.type == FieldType::kList || field.type == FieldType::kObject);
  }
  add_field("missing", true);
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) out += (i > 0 ? "," : "") + csv_cell(names[i]);
  out += "\r\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < names.size(); ++i) out += (i > 0 ? "," : "") + csv_cell(columns[i][row]);
    out += "\r\n";
  }
  return out;
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
        out += '\\';
        out += c;
        break;
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\n':
        out += "<br>";
        break;
      case '\r':
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown_document(const RowSchema& schema, const Json& rows) {
  const Table table = make_table(schema, rows);
  std::string header = "|";
  std::string rule = "|";
  for (const Table::Column& column : table.columns) {
    header += " " + markdown_cell(column.title) + " |";
    rule += column.is_number ? " ---: |" : " --- |";
  }
  std::string out = header + "\n" + rule + "\n";
  for (size_t row = 0; row < table.rows; ++row) {
    out += "|";
    for (const Table::Column& column : table.columns) {
      out += " " + markdown_cell(column.cells[row]) + " |";
    }
    out += "\n";
  }
  return out;
}

}  // namespace

Result<Format> parse_format(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"table", "json", "jsonl", "csv", "md"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return static_cast<Format>(i);
  }
  return Error{ErrorCode::kInvalid,
               "unknown format '" + std::string(name) + "'; known: table, json, jsonl, csv, md",
               "--format"};
}

FormatOptions stdout_options(Format format) {
  FormatOptions options{.format = format, .width = 0, .colour = false};
  if (isatty(STDOUT_FILENO) == 0) return options;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) options.width = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: any non-empty value
  options.colour = no_color == nullptr || *no_color == '\0';
  return options;
}

std::string format_rows(const RowSchema& schema, const Json& rows, const FormatOptions& options) {
  switch (options.format) {
    case Format::kTable:
      return format_table(make_table(schema, rows), options.width, options.colour);
    case Format::kJson:
      return json_document(schema, rows);
    case Format::kJsonl:
      return json_lines(rows);
    case Format::kCsv:
      return csv_document(schema, rows);
    case Format::kMarkdown:
      return markdown_document(schema, rows);
  }
  return "";
}

}  // namespace assay

// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "base/error.h"
#include "base/json.h"
#include "cli/output.h"
#include "record/formats.h"
#include "record/row.h"
#include "record/schema.h"

namespace assay::cli {

void print_rows(const Invocation& invocation, std::string_view command, std::string_view kind,
                const Json& rows) {
  const RowSchema* schema = find_row_schema(command, kind);
  ASSAY_ASSERT(schema != nullptr, command);
  const Format format = value_or_fail(parse_format(invocation.value_or("--format", "table")));
  Json whole = Json::array();
  for (const Json& row : rows) whole.push_back(make_row(*schema, row));
  write_result(format_rows(*schema, whole, stdout_options(format)));
}

}  // namespace assay::cli

// SPDX-License-Identifier: Apache-2.0
//
// Row: one line of a command's result: every field of its schema, in order, and `missing`, which
// gives the reason of each null.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "record/record.h"
#include "record/schema.h"

namespace assay {

// The row of a measured case. A field the record says nothing about is null, with the record's own
// reason, else with its status and reason.
Json row_of(const Record& record, const RowSchema& schema);

// The row of a command that measures nothing: `values` has some fields of the schema (asserts that
// it has no other) and may have `missing`. status is "measured" unless given; case and digest are
// null unless given; `reason` is empty.
Json make_row(const RowSchema& schema, Json values);

// `assay schema [COMMAND]`: one row a field, by the schema of the command "schema".
// An empty command means every one.
Json schema_rows(std::string_view command);

}  // namespace assay

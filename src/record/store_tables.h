// SPDX-License-Identifier: Apache-2.0
//
// The tables of a store as SQL, made from the schema of rows and the keys of a case.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/case.h"

namespace assay::store_tables {

// PRAGMA application_id of our files ("ASSY"), and the version in PRAGMA user_version.
inline constexpr int kApplicationId = 0x41535359;
inline constexpr int kVersion = 1;

// Statements that create every table and index that is not there yet.
std::vector<std::string> creation();
// The column of `records` that holds a case key: "\"batch\" INTEGER NOT NULL DEFAULT 0".
std::string case_column(const CaseKey& key);
// CREATE VIEW for each command whose rows are made from records.
std::vector<std::pair<std::string, std::string>> views();  // name, statement

}  // namespace assay::store_tables

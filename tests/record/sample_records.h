// SPDX-License-Identifier: Apache-2.0
//
// Records with something in every member, for tests.
#pragma once

#include "record/record.h"

namespace assay::sample_records {

Record trained();
Record inferred();
Record crashed();
// Every member, samples to the bit.
void expect_equal(const Record& a, const Record& b);

}  // namespace assay::sample_records

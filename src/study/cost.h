// SPDX-License-Identifier: Apache-2.0
//
// What a record cost in money, at a price of the machine by the hour: `cost_usd` of the training to
// its target (of all steps where a number of steps was asked for), or of the timed calls of
// inference; and `cost_per_million_usd` of a million items at the measured throughput, with its
// interval. docs/method/cost.md. What cannot be said is in Record::missing with the reason. Pure.
#pragma once

#include <optional>

#include "record/record.h"

namespace assay {

void add_cost(Record& record, std::optional<double> price_per_hour_usd);

}  // namespace assay

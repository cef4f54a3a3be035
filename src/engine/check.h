// SPDX-License-Identifier: Apache-2.0
//
// The check engine "check:A,B" runs two engines of this process side by side and compares every
// output. A gives the answers, B the expectation: check:torch,reference checks torch. An output
// that differs by more than the tolerance (engine/compare.h) fails the call. as_compiled() of a
// program tells how many comparisons were made, the worst error, and the verdict so far. A trainer
// compares the losses of its two trainers. Two frameworks do not live in one process; study/
// compares such engines across workers with the same compare().
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "engine/engine.h"

namespace assay {

// `name` is "check:A,B"; A and B are loaded with load_engine().
Result<std::unique_ptr<Engine>> make_check_engine(const std::string& name);

// The same over engines at hand.
std::unique_ptr<Engine> make_check_engine(std::shared_ptr<Engine> engine,
                                          std::shared_ptr<Engine> expected);

}  // namespace assay

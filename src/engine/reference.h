// SPDX-License-Identifier: Apache-2.0
//
// The reference engine runs a graph with the operator table's own kernels: plain loops, one thread,
// f32. It is slow and meant to be believed: other engines are checked against it. A value is freed
// after its last use. It infers; it does not train yet, because it will train through gradient
// graphs, which this version does not make.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace assay {

std::unique_ptr<Engine> make_reference_engine();

}  // namespace assay

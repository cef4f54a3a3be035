// SPDX-License-Identifier: Apache-2.0
//
// Comparison of what two engines computed. The tolerance is c * eps * sqrt(n), relative to the
// largest magnitude of the expected tensor: eps is the spacing of the type at 1, n the number of
// roundings on the way to an element, whose errors add up like a random walk (Higham, "Accuracy and
// Stability of Numerical Algorithms", 2nd edition, section 2.8). A comparison that could not have
// failed is untrusted, not passed. Cost: one pass. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "graph/tensor.h"

namespace assay {

enum class CheckVerdict : uint8_t {
  kPassed,
  kFailed,
  kUntrusted,  // nothing compared, or a constant output would have passed too
};
std::string_view check_verdict_name(CheckVerdict verdict);

struct Tolerance {
  double c = 8;
  double eps = 0x1p-23;
  double n = 1;

  double relative() const;
};

struct Comparison {
  CheckVerdict verdict = CheckVerdict::kUntrusted;
  double max_abs_error = 0;
  double max_rel_error = 0;  // max_abs_error over the largest expected magnitude
  double allowed = 0;        // absolute
  int64_t worst_index = -1;  // of the largest error, or of the first NaN
  int64_t elements = 0;
  std::string text() const;  // "failed: error 0.12 at element 7, allowed 1.3e-05"
};

// Floating types by tolerance, all others exactly. kInvalid when type or shape differ, kUnsupported
// for strided or device memory. A NaN or an infinity on either side fails.
Result<Comparison> compare(const TensorView& expected, const TensorView& actual,
                           const Tolerance& tolerance);

// Spacing at 1 of the type a precision multiplies in.
double precision_eps(Precision precision);

// For the outputs of a graph: roundings are multiply-adds per output element, summed over the nodes
// for f32, and one a node for 16-bit types, whose products are accumulated in f32.
// kUnsupported when a shape is not known.
Result<Tolerance> graph_tolerance(const Graph& graph, Precision precision);

}  // namespace assay

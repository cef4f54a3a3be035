// SPDX-License-Identifier: Apache-2.0
//
// One operator case of golden.json (written by tests/graph/make_golden.py from the ONNX reference
// evaluator and PyTorch): what serves as correctness test of every kernel.
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "graph/attribute.h"
#include "graph/tensor.h"

namespace assay {

struct GoldenCase {
  std::string name;
  std::string op;  // "Conv", "assay.Dropout"
  Attributes attributes;
  std::vector<Tensor> inputs;  // floating ones are f64; empty where omitted
  std::vector<Tensor> outputs;
  double terms = 1;            // the longest sum behind an output element
  int weight = -1;             // the input in which a 1 % error must be seen
  std::set<size_t> constants;  // inputs that inference needs the data of
  bool all_types = false;      // the f64 tensors stand for every floating type
};

const std::vector<GoldenCase>& golden_cases();

// How GoogleTest prints one.
void PrintTo(const GoldenCase& golden, std::ostream* out);

// f64 tensors as another floating type; others as they are.
Tensor retyped(const Tensor& tensor, DType floating);

// Builds the node, checks the inferred types against `expected`, runs the kernel.
std::vector<Tensor> run_case(const GoldenCase& golden, const std::vector<Tensor>& inputs);

// The largest |value - expected| over all outputs, each in units of its tolerance
// c * eps * sqrt(terms) * (largest |expected|): at most 1 when they agree.
double worst_error(const GoldenCase& golden, const std::vector<Tensor>& outputs, DType floating);

}  // namespace assay

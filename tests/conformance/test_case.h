// SPDX-License-Identifier: Apache-2.0
//
// ONNX's own test data, run on an engine: each test is a folder with model.onnx and folders
// test_data_set_N of input_I.pb and output_I.pb.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"

namespace assay::conformance {

enum class Outcome : uint8_t {
  kPassed,
  kUnsupported,  // refused by name: the operator and what of it
  kOutOfScope,   // strings, sequences, optionals
  kFailed,       // another answer than the expected one, or an error that blames the model
};
std::string_view outcome_name(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::kPassed;
  std::string reason;  // empty when passed
};

struct TestCase {
  std::string name;  // "node/test_abs"
  std::filesystem::path folder;
};

// Every test below `root` (its folders hold folders of tests), sorted by name.
Result<std::vector<TestCase>> find_tests(const std::filesystem::path& root);

// All data sets of one test. Outputs must have the expected type and shape, and agree within ONNX's
// own tolerance: relative 1e-3, absolute 1e-7; equal bits for integers. Where an operator draws
// random numbers, only types and shapes are compared and the verdict is kUnsupported.
Verdict run_test(const TestCase& test, Engine& engine);

// The operator that a test is about: that of the model's only node (constants apart), else empty.
std::string subject_of(const TestCase& test);

}  // namespace assay::conformance

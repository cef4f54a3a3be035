// SPDX-License-Identifier: Apache-2.0
//
// Step: one call into libtorch, bound at compile time to the registers it reads and writes. Running
// a step costs one indirect call; attributes were decoded when it was made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "graph/graph.h"

namespace assay::torch_engine {

struct Step;
// `registers` holds one tensor per value of the graph, undefined where there is none now.
using StepFunction = void (*)(const Step& step, at::Tensor* registers);

struct Step {
  StepFunction run = nullptr;
  // Makes what depends on weights only (folded, reordered weights); null: nothing to make. Called
  // before the first run and again whenever weights have changed.
  StepFunction prepare = nullptr;
  std::vector<ValueId> inputs;   // kNoValue where omitted
  size_t run_inputs = SIZE_MAX;  // `run` reads the first so many, `prepare` the others
  std::vector<ValueId> outputs;  // kNoValue where nobody reads it
  std::vector<ValueId> frees;    // registers that nobody reads after this step
  std::shared_ptr<void> data;    // decoded attributes, of a type that only the function knows
  std::vector<uint32_t> nodes;   // the graph's nodes it stands for
  std::string kernel;            // libtorch's name of what it calls
  std::string note;              // "in place", "batch norm folded" ...
  bool once = false;             // reads weights and constants only: runs when those change

  bool has(size_t input) const { return input < inputs.size() && inputs[input] != kNoValue; }
  bool wants(size_t output) const { return output < outputs.size() && outputs[output] != kNoValue; }
  const at::Tensor& in(const at::Tensor* registers, size_t input) const {
    return registers[inputs[input]];
  }
  // Undefined where the input is omitted.
  at::Tensor optional_in(const at::Tensor* registers, size_t input) const {
    return has(input) ? registers[inputs[input]] : at::Tensor();
  }
  at::Tensor& out(at::Tensor* registers, size_t output = 0) const {
    return registers[outputs[output]];
  }
  void set(at::Tensor* registers, size_t output, at::Tensor value) const {
    if (wants(output)) registers[outputs[output]] = std::move(value);
  }
  template <class Data>
  Data& as() const {
    return *static_cast<Data*>(data.get());
  }
};

}  // namespace assay::torch_engine

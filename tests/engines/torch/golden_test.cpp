// SPDX-License-Identifier: Apache-2.0
//
// The cases that test the reference kernels, run by the torch engine: each agrees or is refused
// with a reason.
#include <gtest/gtest.h>

#include "engines/torch/fixture.h"
#include "graph/ops/golden_case.h"

namespace assay::torch_test {
namespace {

struct Prepared {
  std::vector<Tensor> given;
  Graph graph;
};

Prepared prepared(const GoldenCase& golden) {
  GraphBuilder builder(golden.name);
  Prepared p;
  std::vector<ValueId> ids;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    const Tensor tensor = retyped(golden.inputs[i], DType::kF32);
    const std::string name = "x" + std::to_string(i);
    if (tensor.empty()) {
      ids.push_back(kNoValue);
    } else if (golden.constants.contains(i)) {
      ids.push_back(builder.constant(name, tensor));
    } else {
      ids.push_back(builder.input(name, tensor.type()));
      p.given.push_back(tensor);
    }
  }
  for (const ValueId id :
       builder.add_multi(golden.op, ids, golden.outputs.size(), golden.attributes)) {
    builder.output(id);
  }
  p.graph = std::move(builder).build();
  return p;
}

bool all_known(const Graph& graph) {
  for (const ValueId id : graph.outputs()) {
    if (!graph.value(id).type.known()) return false;
  }
  return true;
}

TEST(GoldenCases, AgreeOrAreRefusedWithAReason) {
  size_t agreed = 0;
  std::vector<std::string> refused;
  for (const GoldenCase& golden : golden_cases()) {
    SCOPED_TRACE(golden.name);
    const Prepared p = prepared(golden);
    if (!all_known(p.graph) || p.given.empty()) continue;  // sizes of data; folded
    const auto outputs = infer(torch(), p.graph, p.given, one_thread());
    if (!outputs.ok()) {
      EXPECT_EQ(outputs.error().code, ErrorCode::kUnsupported) << outputs.error().text();
      EXPECT_FALSE(outputs.error().message.empty());
      refused.push_back(golden.name + ": " + outputs.error().message);
      continue;
    }
    EXPECT_LE(worst_error(golden, *outputs, DType::kF32), 1);
    ++agreed;
  }
  EXPECT_GT(agreed, 4 * refused.size()) << testing::PrintToString(refused);
}

}  // namespace
}  // namespace assay::torch_test

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engines/torch/fixture.h"

namespace assay::torch_test {
namespace {

using testing::HasSubstr;

Graph doubling() {
  GraphBuilder builder("doubling");
  const ValueId x = builder.input("x", {DType::kF32, Shape{Dim::symbol("batch"), 3}});
  builder.output(builder.add("Add", {x, x}, {}, "sum"), "y");
  return std::move(builder).build();
}

TEST(TorchEngine, NamesItselfAndTheCpu) {
  EXPECT_EQ(torch().name(), "torch");
  EXPECT_THAT(torch().version(), testing::StartsWith("2."));
  EXPECT_THAT(torch().devices(), testing::Contains(Device{}));
}

TEST(TorchEngine, RefusesCudaWhereThereIsNoneAndSaysWhatIsMissing) {
  if (torch().devices().size() > 1) GTEST_SKIP() << "this machine has a CUDA device";
  Plan plan = one_thread();
  plan.device = {DeviceKind::kCuda, 0};
  const auto refused = torch().compile(doubling(), plan, {}, RandomKey(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("no CUDA device: "));
  EXPECT_THAT(torch().unsupported(doubling(), plan).at(0).reason, HasSubstr("no CUDA device: "));
}

TEST(TorchEngine, RefusesPretendDevices) {
  Plan plan = one_thread();
  plan.device = {DeviceKind::kNull, 0};
  EXPECT_EQ(torch().compile(doubling(), plan, {}, RandomKey(1)).error().code,
            ErrorCode::kUnsupported);
}

TEST(TorchEngine, RefusesPrecisionsThatItDoesNotHaveOnCpu) {
  for (const Precision precision : {Precision::kTF32, Precision::kInt8}) {
    const auto refused = torch().compile(doubling(), one_thread(precision), {}, RandomKey(1));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  }
}

TEST(TorchEngine, NamesWrongInputsAndOutputs) {
  const Graph graph = doubling();
  const auto program = compiled(torch(), graph, one_thread());
  Tensor out = Tensor::zeros(DType::kF32, {2, 3});
  const std::vector<TensorView> outputs = {out.view()};
  const auto code = [&](const std::vector<Tensor>& inputs, const std::vector<TensorView>& targets) {
    const auto done = program->run(views(inputs), targets);
    EXPECT_FALSE(done.ok());
    EXPECT_FALSE(done.error().place.empty());
    return done.error().code;
  };
  EXPECT_EQ(code({}, outputs), ErrorCode::kInvalid);
  EXPECT_EQ(code({drawn("x", {2, 4})}, outputs), ErrorCode::kInvalid);
  EXPECT_EQ(code({drawn("x", {6})}, outputs), ErrorCode::kInvalid);
  EXPECT_EQ(code({labels({2, 3}, 2)}, outputs), ErrorCode::kInvalid);
  EXPECT_EQ(code({drawn("x", {5, 3})}, outputs), ErrorCode::kInvalid);
  EXPECT_EQ(code({drawn("x", {2, 3})}, {}), ErrorCode::kInvalid);
  EXPECT_TRUE(program->run(views({drawn("x", {2, 3})}), outputs).ok());
}

TEST(TorchEngine, LibtorchsErrorsArriveAsResultsAndLeaveTheProgramUsable) {
  GraphBuilder builder("loss");
  const ValueId scores = builder.input("scores", {DType::kF32, Shape{4, 3}});
  const ValueId label = builder.input("label", {DType::kI64, Shape{4}});
  builder.output(builder.add("SoftmaxCrossEntropyLoss", {scores, label}, {}, "the loss"));
  const Graph graph = std::move(builder).build();
  const auto program = compiled(torch(), graph, one_thread());
  const auto bad = run(*program, graph, {drawn("s", {4, 3}), labels({4}, 40)});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().place, "the loss");
  EXPECT_THAT(bad.error().message, HasSubstr("libtorch"));
  EXPECT_EQ(bad.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(run(*program, graph, {drawn("s", {4, 3}), labels({4}, 3)}).ok());
}

TEST(TorchEngine, ReadsStridedInputs) {
  const Graph graph = doubling();
  const auto program = compiled(torch(), graph, one_thread());
  Tensor columns = drawn("x", {3, 2});
  TensorView transposed = columns.view();
  transposed.shape = {2, 3};
  transposed.strides = {1, 2};
  Tensor out = Tensor::zeros(DType::kF32, {2, 3});
  ASSERT_TRUE(program->run(std::vector{transposed}, std::vector{out.view()}).ok());
  EXPECT_EQ(out.values<float>()[1], 2 * columns.values<float>()[2]);
}

TEST(TorchEngine, TheCallersInputIsNeverWrittenTo) {
  GraphBuilder builder("in place");
  const ValueId x = builder.input("x", {DType::kF32, Shape{2, 3}});
  const ValueId same = builder.add("Identity", {x});
  builder.output(builder.add("Relu", {builder.add("Add", {same, builder.add("Neg", {x})})}));
  builder.output(builder.add("Relu", {x}));
  const Graph graph = std::move(builder).build();
  const Tensor input = drawn("x", {2, 3});
  const Tensor before = input.clone();
  ASSERT_TRUE(infer(torch(), graph, {input}, one_thread()).ok());
  EXPECT_EQ(floats(input), floats(before));
}

}  // namespace
}  // namespace assay::torch_test

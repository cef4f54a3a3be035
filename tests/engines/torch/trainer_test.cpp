// SPDX-License-Identifier: Apache-2.0
//
// Training against PyTorch's own steps (golden_training.json, written by make_golden.py).
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "engines/torch/fixture.h"

namespace assay::torch_test {
namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t kBatch = 6;

struct NamedShape {
  std::string name;
  Ints shape;
};
const std::vector<NamedShape> kParameters = {{"conv.weight", {4, 2, 3, 3}},
                                             {"bn.weight", {4}},
                                             {"bn.bias", {4}},
                                             {"fc.weight", {3, 64}},
                                             {"fc.bias", {3}}};

// The starting values that make_golden.py computes.
Tensor start(size_t p) {
  Tensor values = Tensor::allocate(DType::kF32, kParameters[p].shape);
  for (size_t i = 0; i < static_cast<size_t>(values.elements()); ++i) {
    const double x = 0.4 * std::sin(1 + 0.7 * static_cast<double>(i) + 10 * static_cast<double>(p));
    values.values<float>()[i] =
        static_cast<float>(x) + (kParameters[p].name == "bn.weight" ? 1.0F : 0.0F);
  }
  return values;
}

Graph network(bool training) {
  GraphBuilder b("tiny");
  const ValueId image = b.input("image", {DType::kF32, Shape{Dim::symbol("batch"), 2, 8, 8}});
  ValueId label = kNoValue;
  if (training) label = b.input("label", {DType::kI64, Shape{Dim::symbol("batch")}});
  std::vector<ValueId> w;
  for (size_t p = 0; p < kParameters.size(); ++p) {
    w.push_back(b.parameter(kParameters[p].name, {DType::kF32, Shape::of(kParameters[p].shape)},
                            Initializer::of(start(p))));
  }
  const ValueId mean = b.state("bn.running_mean", {DType::kF32, Shape{4}}, Initializer::zeros());
  const ValueId variance = b.state("bn.running_var", {DType::kF32, Shape{4}}, Initializer::ones());
  const ValueId conv = b.add("Conv", {image, w[0]}, {{"pads", Ints{1, 1, 1, 1}}}, "conv");
  const auto norm =
      b.add_multi("BatchNormalization", {conv, w[1], w[2], mean, variance}, training ? 3 : 1,
                  {{"training_mode", int64_t{training ? 1 : 0}}}, "bn");
  if (training) {
    b.set_next(mean, norm[1]);
    b.set_next(variance, norm[2]);
  }
  const ValueId pooled = b.add(
      "MaxPool", {b.add("Relu", {norm[0]}, {}, "relu")},
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}, "pool");
  const ValueId logits = b.add("Gemm", {b.add("Flatten", {pooled}, {}, "flatten"), w[3], w[4]},
                               {{"transB", int64_t{1}}}, "fc");
  b.output(training ? b.add("SoftmaxCrossEntropyLoss", {logits, label}, {}, "loss") : logits);
  return std::move(b).build();
}

std::vector<Tensor> batch(int64_t step, int64_t size = kBatch) {
  Tensor images = Tensor::allocate(DType::kF32, {size, 2, 8, 8});
  Tensor label = Tensor::allocate(DType::kI64, {size});
  for (size_t i = 0; i < static_cast<size_t>(images.elements()); ++i) {
    images.values<float>()[i] = static_cast<float>(
        std::cos(0.37 * static_cast<double>(i) + 1.3 * static_cast<double>(step)));
  }
  for (int64_t i = 0; i < size; ++i)
    label.values<int64_t>()[static_cast<size_t>(i)] = (i + step) % 3;
  return {images, label};
}

const Json& golden() {
  static const Json kGolden = [] {
    std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/engines/torch/golden_training.json");
    return Json::parse(file);
  }();
  return kGolden;
}

OptimizerConfig config_of(const Json& c) {
  OptimizerConfig config;
  const auto kind = parse_optimizer(c.at("kind").get<std::string>());
  EXPECT_TRUE(kind.ok());
  config.kind = *kind;
  config.momentum = c.value("momentum", 0.9);
  config.nesterov = c.value("nesterov", false);
  config.weight_decay = c.at("decay").get<double>();
  if (c.contains("clip")) config.clip_norm = c.at("clip").get<double>();
  return config;
}

std::unique_ptr<Trainer> make(const OptimizerConfig& config, const Plan& plan = one_thread()) {
  auto made = torch().trainer(network(true), config, plan, RandomKey(3), nullptr);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return made.ok() ? std::move(made).value() : nullptr;
}

double accumulate(Trainer& trainer, const std::vector<Tensor>& inputs, float weight = 1) {
  const auto done = trainer.accumulate(views(inputs), RandomKey(0), weight);
  EXPECT_TRUE(done.ok()) << done.error().text();
  const auto loss = trainer.loss();
  EXPECT_TRUE(loss.ok());
  return loss.ok() ? *loss : NAN;
}

void apply(Trainer& trainer, double rate) {
  const auto done = trainer.apply(rate);
  EXPECT_TRUE(done.ok()) << done.error().text();
}

NamedTensors state_of(Trainer& trainer) {
  auto state = trainer.state();
  EXPECT_TRUE(state.ok()) << state.error().text();
  return state.ok() ? std::move(state).value() : NamedTensors();
}

// The largest difference, in eps of the largest wanted value.
double error_in_eps(const Tensor& found, const Json& wanted) {
  const auto values = wanted.get<std::vector<float>>();
  return torch_test::error_in_eps(
      found, Tensor::from<float>(DType::kF32, found.shape(), std::span<const float>(values)));
}

// Gradients as they arrive at the callback, packed.
std::map<std::string, Tensor> gradients(Trainer& trainer, const std::vector<Tensor>& inputs) {
  std::map<std::string, Tensor> all;
  auto* hooks = dynamic_cast<GradientHooks*>(&trainer);
  EXPECT_NE(hooks, nullptr);
  hooks->on_gradient([&](const std::string& name, const TensorView& view) {
    Tensor copy = Tensor::allocate(view.dtype, view.shape);
    const auto rank = view.shape.size();
    for (int64_t i = 0; i < copy.elements(); ++i) {
      int64_t rest = i;
      int64_t offset = 0;
      for (size_t axis = rank; axis-- > 0; rest /= view.shape[axis]) {
        offset += (rest % view.shape[axis]) * view.strides[axis];
      }
      copy.values<float>()[static_cast<size_t>(i)] = view.as<float>()[offset];
    }
    all[name] = copy;
  });
  accumulate(trainer, inputs);
  hooks->on_gradient(nullptr);
  return all;
}

class Trajectory : public testing::TestWithParam<size_t> {};

TEST_P(Trajectory, FollowsPyTorchForAHundredSteps) {
  const Json& wanted = golden().at("cases").at(GetParam());
  const auto trainer = make(config_of(wanted));
  const auto rate = wanted.at("rate").get<double>();
  for (int64_t step = 0; step < 100; ++step) {
    const double loss = accumulate(*trainer, batch(step));
    const auto golden_loss = wanted.at("losses").at(static_cast<size_t>(step)).get<double>();
    // Rounding differences grow with the number of steps.
    EXPECT_NEAR(loss, golden_loss, 64 * 0x1p-23 * (1 + static_cast<double>(step)))
        << "step " << step;
    apply(*trainer, rate * (1 - static_cast<double>(step) / 200));
    const std::string key = std::to_string(step + 1);
    if (!wanted.at("weights").contains(key)) continue;
    const NamedTensors state = state_of(*trainer);
    for (const NamedShape& p : kParameters) {
      EXPECT_LE(error_in_eps(state.at(p.name), wanted.at("weights").at(key).at(p.name)),
                64.0 * (1 + static_cast<double>(step)))
          << p.name << " after step " << key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trainer, Trajectory, testing::Range(size_t{0}, size_t{5}),
                         [](const testing::TestParamInfo<size_t>& test) {
                           return golden().at("cases").at(test.param).at("name").get<std::string>();
                         });

TEST(Trainer, GradientsEqualPyTorchs) {
  const Json& wanted = golden().at("cases").at(0);
  const auto trainer = make(config_of(wanted));
  const auto found = gradients(*trainer, batch(0));
  ASSERT_EQ(found.size(), kParameters.size());
  for (const NamedShape& p : kParameters) {
    EXPECT_LE(error_in_eps(found.at(p.name), wanted.at("gradients").at(p.name)), 8 * 20.0)
        << p.name;
  }
}

TEST(Trainer, AOnePercentErrorInOneGradientTermIsSeen) {
  const Json& wanted = golden().at("cases").at(0);
  Json wrong = wanted.at("gradients").at("conv.weight");
  wrong[5] = wrong[5].get<double>() * 1.01;
  const auto trainer = make(config_of(wanted));
  EXPECT_GT(error_in_eps(gradients(*trainer, batch(0)).at("conv.weight"), wrong), 8 * 20.0);
}

TEST(Trainer, RunningStatisticsTakeThePopulationVariance) {
  const Json& wanted = golden().at("cases").at(0);
  const auto trainer = make(config_of(wanted));
  accumulate(*trainer, batch(0));
  const NamedTensors state = state_of(*trainer);
  EXPECT_LE(error_in_eps(state.at("bn.running_mean"), wanted.at("running_mean")), 40);
  EXPECT_LE(error_in_eps(state.at("bn.running_var"), wanted.at("running_var")), 40);
}

TEST(Trainer, TheSameSeedGivesTheSameBits) {
  OptimizerConfig config;
  config.nesterov = true;
  std::vector<std::vector<double>> losses(2);
  for (auto& run : losses) {
    const auto trainer = make(config);
    for (int64_t step = 0; step < 20; ++step) {
      run.push_back(accumulate(*trainer, batch(step, 64)));
      apply(*trainer, 0.1);
    }
  }
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(Trainer, TwoHalfBatchesOfHalfWeightAddUpToTheirMean) {
  OptimizerConfig config;
  const auto apart = make(config);
  accumulate(*apart, batch(0), 0.5F);
  accumulate(*apart, batch(1), 0.5F);
  apply(*apart, 1);
  const auto a = make(config);
  const auto b = make(config);
  accumulate(*a, batch(0));
  accumulate(*b, batch(1));
  apply(*a, 0.5);
  apply(*b, 0.5);
  const NamedTensors both = state_of(*apart);
  const NamedTensors first = state_of(*a);
  const NamedTensors second = state_of(*b);
  for (size_t p = 0; p < kParameters.size(); ++p) {
    const std::string& name = kParameters[p].name;
    const Tensor begin = start(p);
    for (size_t i = 0; i < static_cast<size_t>(begin.elements()); ++i) {
      const float sum = first.at(name).values<float>()[i] + second.at(name).values<float>()[i] -
                        begin.values<float>()[i];
      EXPECT_NEAR(both.at(name).values<float>()[i], sum, 2e-6F) << name;
    }
  }
}

TEST(Trainer, StateContinuesWhereItWasSaved) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
    OptimizerConfig config;
    config.kind = kind;
    const auto original = make(config);
    for (int64_t step = 0; step < 3; ++step) {
      accumulate(*original, batch(step));
      apply(*original, 0.01);
    }
    const auto copy = make(config);
    const auto loaded = copy->set_state(state_of(*original));
    ASSERT_TRUE(loaded.ok()) << loaded.error().text();
    for (int64_t step = 3; step < 6; ++step) {
      EXPECT_EQ(accumulate(*original, batch(step)), accumulate(*copy, batch(step)));
      apply(*original, 0.01);
      apply(*copy, 0.01);
    }
  }
}

TEST(Trainer, RefusesAStateThatLacksAnEntry) {
  OptimizerConfig config;
  const auto trainer = make(config);
  for (const std::string name :
       {"conv.weight", "bn.running_var", "optimizer.first.fc.bias", "optimizer.step"}) {
    NamedTensors state = state_of(*trainer);
    ASSERT_EQ(state.erase(name), 1U) << name;
    const auto done = trainer->set_state(state);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(done.error().text(), testing::HasSubstr(name));
  }
}

TEST(Trainer, ALiveProgramSeesLaterSteps) {
  OptimizerConfig config;
  const auto trainer = make(config);
  const Graph inference = network(false);
  auto live = trainer->program(inference);
  ASSERT_TRUE(live.ok()) << live.error().text();
  const std::vector<Tensor> images = {batch(9)[0]};
  std::vector<float> before;
  for (int64_t step = 0; step < 3; ++step) {
    const auto found = run(**live, inference, images);
    ASSERT_TRUE(found.ok()) << found.error().text();
    const auto wanted = infer(reference(), inference, images, one_thread(), state_of(*trainer));
    ASSERT_TRUE(wanted.ok());
    EXPECT_LE(torch_test::error_in_eps((*found)[0], (*wanted)[0]), 4 * 8.0) << "step " << step;
    EXPECT_NE(floats((*found)[0]), before);
    before = floats((*found)[0]);
    accumulate(*trainer, batch(step));
    apply(*trainer, 0.1);
  }
}

TEST(Trainer, WhatACallbackWritesIsWhatApplyUses) {
  OptimizerConfig config;
  config.momentum = 0;
  const auto trainer = make(config);
  dynamic_cast<GradientHooks&>(*trainer).on_gradient([](const std::string&, const TensorView& g) {
    for (int64_t i = 0; i < g.elements(); ++i) g.as<float>()[i] = 1;
  });
  accumulate(*trainer, batch(0));
  apply(*trainer, 0.25);
  const NamedTensors state = state_of(*trainer);
  for (size_t p = 0; p < kParameters.size(); ++p) {
    const Tensor begin = start(p);
    for (size_t i = 0; i < static_cast<size_t>(begin.elements()); ++i) {
      EXPECT_FLOAT_EQ(state.at(kParameters[p].name).values<float>()[i],
                      begin.values<float>()[i] - 0.25F);
    }
  }
}

TEST(Trainer, BFloat16KeepsMasterWeightsAndStaysNear) {
  OptimizerConfig config;
  const auto narrow = make(config, one_thread(Precision::kBF16));
  const auto full = make(config);
  for (int64_t step = 0; step < 10; ++step) {
    const double a = accumulate(*narrow, batch(step));
    const double b = accumulate(*full, batch(step));
    EXPECT_NEAR(a, b, 32 * 0x1p-8) << "step " << step;
    apply(*narrow, 0.02);
    apply(*full, 0.02);
  }
  for (const auto& [name, tensor] : state_of(*narrow)) {
    EXPECT_NE(tensor.dtype(), DType::kBF16) << name;
  }
}

TEST(Trainer, ReportsMemoryByPurpose) {
  OptimizerConfig config;
  const auto trainer = make(config);
  accumulate(*trainer, batch(0));
  const MemoryUse use = dynamic_cast<MemoryReport&>(*trainer).memory();
  const int64_t parameters = 4 * (72 + 4 + 4 + 192 + 3);
  EXPECT_EQ(use.parameters->count, parameters + 4 * 8);
  EXPECT_EQ(use.gradients->count, parameters);
  EXPECT_EQ(use.optimizer->count, parameters);
  // The convolution's result alone is kept for the backward pass.
  EXPECT_GT(use.activations->count, kBatch * 4 * 64 * 4);
}

TEST(Trainer, ApplyWithoutAGradientIsAnError) {
  const auto trainer = make(OptimizerConfig());
  EXPECT_EQ(trainer->apply(0.1).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(trainer->loss().error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace assay::torch_test

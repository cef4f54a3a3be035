// SPDX-License-Identifier: Apache-2.0
#include "model/resnet.h"

#include <string>

#include "graph/builder.h"

namespace assay {
namespace {

class ResNetBuilder {
 public:
  ResNetBuilder(const ResNetConfig& config, Phase phase)
      : config_(config), training_(phase == Phase::kTraining), builder_("resnet") {}

  Graph build(float label_smoothing) {
    const TensorType image(
        DType::kF32, Shape{Dim::symbol("batch"), config_.channels, config_.height, config_.width});
    ValueId x = builder_.input("image", image);
    ValueId label = kNoValue;
    if (training_) {
      label = builder_.input("label", TensorType(DType::kI64, Shape{Dim::symbol("batch")}));
    }
    const ValueId logits = classify(features(x));
    if (training_) builder_.output(loss(logits, label, label_smoothing), "loss");
    builder_.output(logits, "logits");
    return std::move(builder_).build();
  }

 private:
  ValueId features(ValueId x) {
    x = conv(x, "conv1", config_.stem_width, config_.stem_kernel, config_.stem_stride);
    x = relu(batch_norm(x, "bn1", false), "relu");
    if (config_.stem_pool) {
      x = builder_.add("MaxPool", {x},
                       {{"kernel_shape", std::vector<int64_t>{3, 3}},
                        {"strides", std::vector<int64_t>{2, 2}},
                        {"pads", std::vector<int64_t>{1, 1, 1, 1}}},
                       "maxpool");
    }
    for (size_t stage = 0; stage < config_.blocks.size(); ++stage) {
      for (int64_t i = 0; i < config_.blocks[stage]; ++i) {
        const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
        x = block(x, name, config_.widths[stage], stage > 0 && i == 0 ? 2 : 1);
      }
    }
    return x;
  }

  int64_t channels(ValueId x) const { return (*builder_.type(x).shape)[1].size(); }

  // A convolution without bias, padded to keep the size but for its stride.
  ValueId conv(ValueId x, const std::string& name, int64_t out, int64_t kernel, int64_t stride) {
    const Shape shape{out, channels(x), kernel, kernel};
    const ValueId weight = builder_.parameter(name + ".weight", TensorType(DType::kF32, shape),
                                              Initializer::he_normal_fan_out(shape));
    const int64_t pad = kernel / 2;
    return builder_.add("Conv", {x, weight},
                        {{"strides", std::vector<int64_t>{stride, stride}},
                         {"pads", std::vector<int64_t>{pad, pad, pad, pad}}},
                        name);
  }

  ValueId batch_norm(ValueId x, const std::string& name, bool zero_gamma) {
    const TensorType type(DType::kF32, Shape{channels(x)});
    const ValueId gamma =
        builder_.parameter(name + ".weight", type, Initializer::constant(zero_gamma ? 0.0f : 1.0f));
    const ValueId beta = builder_.parameter(name + ".bias", type, Initializer::zeros());
    const ValueId mean = builder_.state(name + ".running_mean", type, Initializer::zeros());
    const ValueId variance = builder_.state(name + ".running_var", type, Initializer::ones());
    const std::vector<ValueId> outputs = builder_.add_multi(
        "BatchNormalization", {x, gamma, beta, mean, variance}, training_ ? 3 : 1,
        {{"epsilon", config_.bn_epsilon},
         {"momentum", config_.bn_momentum},
         {"training_mode", int64_t{training_ ? 1 : 0}}},
        name);
    if (training_) {
      builder_.set_next(mean, outputs[1]);
      builder_.set_next(variance, outputs[2]);
    }
    return outputs[0];
  }

  ValueId relu(ValueId x, const std::string& name) { return builder_.add("Relu", {x}, {}, name); }

  ValueId block(ValueId x, const std::string& name, int64_t width, int64_t stride) {
    const bool bottleneck = config_.block == ResNetBlock::kBottleneck;
    const int64_t out = bottleneck ? width * config_.expansion : width;
    ValueId y = bottleneck ? bottleneck_branch(x, name, width, stride)
                           : basic_branch(x, name, width, stride);
    ValueId shortcut = x;
    if (stride != 1 || channels(x) != out) {
      shortcut = conv(x, name + ".downsample.0", out, 1, stride);
      shortcut = batch_norm(shortcut, name + ".downsample.1", false);
    }
    y = builder_.add("Add", {y, shortcut}, {}, name + ".add");
    return relu(y, name + ".relu");
  }

  ValueId basic_branch(ValueId x, const std::string& name, int64_t width, int64_t stride) {
    ValueId y = conv(x, name + ".conv1", width, 3, stride);
    y = relu(batch_norm(y, name + ".bn1", false), name + ".relu1");
    y = conv(y, name + ".conv2", width, 3, 1);
    return batch_norm(y, name + ".bn2", config_.zero_init_last_gamma);
  }

  ValueId bottleneck_branch(ValueId x, const std::string& name, int64_t width, int64_t stride) {
    const int64_t first = config_.stride_in_3x3 ? 1 : stride;
    ValueId y = conv(x, name + ".conv1", width, 1, first);
    y = relu(batch_norm(y, name + ".bn1", false), name + ".relu1");
    y = conv(y, name + ".conv2", width, 3, stride / first);
    y = relu(batch_norm(y, name + ".bn2", false), name + ".relu2");
    y = conv(y, name + ".conv3", width * config_.expansion, 1, 1);
    return batch_norm(y, name + ".bn3", config_.zero_init_last_gamma);
  }

  ValueId classify(ValueId x) {
    x = builder_.add("GlobalAveragePool", {x}, {}, "avgpool");
    x = builder_.add("Flatten", {x}, {}, "flatten");
    const int64_t width = channels(x);
    const Initializer fan_in = Initializer::uniform_fan_in(width);
    const bool normal = config_.fc_deviation > 0;
    const ValueId weight =
        builder_.parameter("fc.weight", TensorType(DType::kF32, Shape{config_.classes, width}),
                           normal ? Initializer::normal(0, config_.fc_deviation) : fan_in);
    const ValueId bias =
        builder_.parameter("fc.bias", TensorType(DType::kF32, Shape{config_.classes}),
                           normal ? Initializer::zeros() : fan_in);
    return builder_.add("Gemm", {x, weight, bias}, {{"transB", 1}}, "fc");
  }

  ValueId loss(ValueId logits, ValueId label, float smoothing) {
    const auto entropy =
        builder_.add_multi("SoftmaxCrossEntropyLoss", {logits, label}, 2, {}, "cross_entropy");
    if (smoothing == 0) return entropy[0];
    const ValueId uniform =
        builder_.add("ReduceMean", {entropy[1]}, {{"keepdims", 0}}, "mean_log_prob");
    const ValueId kept =
        builder_.add("Mul", {entropy[0], builder_.scalar(1 - smoothing)}, {}, "kept");
    const ValueId spread =
        builder_.add("Mul", {uniform, builder_.scalar(smoothing)}, {}, "smoothed");
    return builder_.add("Sub", {kept, spread});
  }

  const ResNetConfig& config_;
  bool training_;
  GraphBuilder builder_;
};

}  // namespace

Graph resnet(const ResNetConfig& config, Phase phase, float label_smoothing) {
  ASSAY_ASSERT(config.blocks.size() == config.widths.size(), "blocks and widths differ in length");
  return ResNetBuilder(config, phase).build(label_smoothing);
}

}  // namespace assay

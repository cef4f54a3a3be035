// SPDX-License-Identifier: Apache-2.0
#include "model/resnet_entry.h"

namespace assay {
namespace {

constexpr int64_t kLargestSide = 65536;
constexpr int64_t kLargestWidth = 65536;

Result<void> read_image(const ConfigReader& reader, ResNetConfig& config) {
  ASSAY_ASSIGN(const std::vector<int64_t> image, reader.integers("image", 'x', 1, kLargestSide));
  if (image.size() != 3) {
    return Error{ErrorCode::kInvalid, "'" + reader.text("image") + "' is not CHANNELSxHEIGHTxWIDTH",
                 "key image"};
  }
  config.channels = image[0];
  config.height = image[1];
  config.width = image[2];
  return {};
}

Result<void> read_stages(const ConfigReader& reader, ResNetConfig& config) {
  ASSAY_ASSIGN(config.blocks, reader.integers("blocks", ',', 1, 1000));
  ASSAY_ASSIGN(config.widths, reader.integers("widths", ',', 1, kLargestWidth));
  if (config.blocks.size() != config.widths.size()) {
    return Error{ErrorCode::kInvalid, "the lists have different lengths", "keys blocks and widths"};
  }
  return {};
}

Result<Graph> build(const ModelEntry& entry, const ModelConfig& given, Phase phase) {
  ASSAY_ASSIGN(const ConfigReader reader, ConfigReader::open(entry, given));
  ASSAY_ASSIGN(const ResNetConfig config, resnet_config(reader));
  ASSAY_ASSIGN(const double smoothing, reader.number("label_smoothing", 0, 1));
  return resnet(config, phase, static_cast<float>(smoothing));
}

std::vector<ModelKey> keys(const std::string& block, const std::string& blocks,
                           const std::string& stride_in) {
  return {
      {"image", "3x224x224", "channels x height x width of an image"},
      {"classes", "1000", "number of classes"},
      {"stem_kernel", "7", "side of the first convolution's kernel, odd"},
      {"stem_stride", "2", "stride of the first convolution"},
      {"stem_width", "64", "output channels of the first convolution"},
      {"stem_pool", "true", "whether a 3x3 max-pool of stride 2 follows it"},
      {"block", block, "basic or bottleneck"},
      {"blocks", blocks, "number of blocks of each stage"},
      {"widths", "64,128,256,512", "inner width of each stage"},
      {"expansion", "4", "output width of a bottleneck / its inner width"},
      {"stride_in", stride_in, "which convolution of a bottleneck has the stride: 3x3 or 1x1"},
      {"zero_init_last_gamma", "true", "the last batch-norm scale of a block starts at 0"},
      {"bn_epsilon", "1e-5", "added to the variance in batch normalisation"},
      {"bn_momentum", "0.9", "share of the old running statistics kept at a step"},
      {"fc_deviation", "0",
       "standard deviation of the last layer's weights; 0: uniform in 1/sqrt(fan-in)"},
      {"label_smoothing", "0", "probability spread over all classes in the loss"},
  };
}

constexpr const char* kPaper = "He et al. 2015, Deep residual learning for image recognition";

}  // namespace

Result<ResNetConfig> resnet_config(const ConfigReader& reader) {
  ResNetConfig config;
  ASSAY_TRY(read_image(reader, config));
  ASSAY_ASSIGN(config.classes, reader.integer("classes", 2, 10'000'000));
  ASSAY_ASSIGN(config.stem_kernel, reader.integer("stem_kernel", 1, 63));
  if (config.stem_kernel % 2 == 0) {
    return Error{ErrorCode::kInvalid, "the kernel's side must be odd", "key stem_kernel"};
  }
  ASSAY_ASSIGN(config.stem_stride, reader.integer("stem_stride", 1, 16));
  ASSAY_ASSIGN(config.stem_width, reader.integer("stem_width", 1, kLargestWidth));
  ASSAY_ASSIGN(config.stem_pool, reader.boolean("stem_pool"));
  ASSAY_ASSIGN(const size_t block, reader.choice("block", {"basic", "bottleneck"}));
  config.block = block == 0 ? ResNetBlock::kBasic : ResNetBlock::kBottleneck;
  ASSAY_TRY(read_stages(reader, config));
  ASSAY_ASSIGN(config.expansion, reader.integer("expansion", 1, 64));
  ASSAY_ASSIGN(const size_t stride_in, reader.choice("stride_in", {"1x1", "3x3"}));
  config.stride_in_3x3 = stride_in == 1;
  ASSAY_ASSIGN(config.zero_init_last_gamma, reader.boolean("zero_init_last_gamma"));
  ASSAY_ASSIGN(const double epsilon, reader.number("bn_epsilon", 0, 1));
  ASSAY_ASSIGN(const double momentum, reader.number("bn_momentum", 0, 1));
  ASSAY_ASSIGN(const double deviation, reader.number("fc_deviation", 0, 1));
  config.bn_epsilon = static_cast<float>(epsilon);
  config.bn_momentum = static_cast<float>(momentum);
  config.fc_deviation = static_cast<float>(deviation);
  return config;
}

void add_resnet_models(std::vector<ModelEntry>& models) {
  const auto add = [&](const char* name, const char* summary, std::vector<ModelKey> k) {
    models.push_back({name, summary, kPaper, "vision", "image", std::move(k), build});
  };
  add("resnet", "residual network of any size", keys("bottleneck", "3,4,6,3", "3x3"));
  add("resnet18", "ResNet-18", keys("basic", "2,2,2,2", "3x3"));
  add("resnet50", "ResNet-50 v1.5 (stride on the 3x3 convolution)",
      keys("bottleneck", "3,4,6,3", "3x3"));
  add("resnet50-v1", "ResNet-50 v1 (stride on the first 1x1 convolution)",
      keys("bottleneck", "3,4,6,3", "1x1"));
  add("resnet152", "ResNet-152", keys("bottleneck", "3,8,36,3", "3x3"));
}

}  // namespace assay

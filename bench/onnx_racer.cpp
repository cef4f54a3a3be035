// SPDX-License-Identifier: Apache-2.0
//
// Our side of the race over ONNX files (bench/onnx_race.py).
//   assay_onnx_racer FILE          reads the file, infers every shape and counts, once a step
//   assay_onnx_racer --make FOLDER writes the files: resnet50.onnx, large.onnx with 2.3 GB beside
//                                  it, chain_N.onnx
#include <filesystem>
#include <string>

#include "graph/builder.h"
#include "graph/count.h"
#include "graph/passes/passes.h"
#include "model/model.h"
#include "onnx/read.h"
#include "onnx/write.h"
#include "race_protocol.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A chain of element-wise operators.
Graph chain(int64_t nodes) {
  GraphBuilder builder("chain");
  ValueId x = builder.input("x", TensorType(DType::kF32, Shape{1, 64}));
  for (int64_t i = 0; i < nodes; ++i) x = builder.add(i % 2 == 0 ? "Relu" : "Neg", {x});
  builder.output(x, "y");
  return std::move(builder).build();
}

// Layers of matrix products whose weights are 2.3 GB.
Graph large() {
  constexpr int64_t kWidth = 4096;
  constexpr int kLayers = 34;
  GraphBuilder builder("large");
  ValueId x = builder.input("x", TensorType(DType::kF32, Shape{1, kWidth}));
  for (int i = 0; i < kLayers; ++i) {
    const ValueId w =
        builder.parameter("w" + std::to_string(i), TensorType(DType::kF32, Shape{kWidth, kWidth}),
                          Initializer::constant(0.5F));
    x = builder.add("MatMul", {x, w});
  }
  builder.output(x, "y");
  return std::move(builder).build();
}

void make(const fs::path& folder) {
  fs::create_directories(folder);
  const Graph resnet = must(build_model("resnet50", {}, Phase::kInference));
  must(write_onnx(must(bind_dimensions(resnet, {{"batch", 1}})), folder / "resnet50.onnx"));
  must(write_onnx(large(), folder / "large.onnx"));
  for (const int64_t nodes : {100, 1000, 10'000, 100'000}) {
    must(write_onnx(chain(nodes), folder / ("chain_" + std::to_string(nodes) + ".onnx")));
  }
}

int run(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--make") {
    make(argv[2]);
    return 0;
  }
  if (argc != 2) give_up("usage: assay_onnx_racer FILE | --make FOLDER");
  answer_runs(status_bytes("RssAnon"), [argv](int64_t) {
    const GraphCount total = must(count(must(read_onnx(argv[1]))));
    if (total.flops <= 0) give_up("nothing was counted");
  });
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::run(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
//
// apply_precision: which operators run in 16 bits, which follow their inputs, which stay in f32.
// The lists are those of published mixed-precision recipes (Micikevicius et al. 2018, "Mixed
// precision training"; PyTorch's autocast), with normalisation on 16-bit data as cuDNN and oneDNN
// have it: statistics and scales in f32 inside.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {
namespace {

struct NamedPrecision {
  Precision precision;
  std::string_view name;
};
constexpr std::array<NamedPrecision, 5> kPrecisions{{{Precision::kF32, "f32"},
                                                     {Precision::kTF32, "tf32"},
                                                     {Precision::kBF16, "bf16"},
                                                     {Precision::kF16, "f16"},
                                                     {Precision::kInt8, "int8"}}};

enum class Policy : uint8_t {
  kNarrow,     // inputs are cast to 16 bits
  kFollow,     // if any activation that comes in is 16-bit, all inputs become so
  kNormalize,  // input 0 stays as it comes, the others stay f32
  kFull,       // inputs are cast back to what they were
};

constexpr std::array<std::string_view, 3> kNarrow{"Conv", "Gemm", "MatMul"};
constexpr std::array<std::string_view, 2> kNormalize{"BatchNormalization", "LayerNormalization"};
constexpr std::array<std::string_view, 31> kFollow{
    "Abs",      "Add",       "AveragePool", "Clip",         "Concat",  "Dropout",
    "Equal",    "Expand",    "Flatten",     "Gather",       "Gelu",    "Greater",
    "Identity", "LeakyRelu", "Less",        "Max",          "MaxPool", "Min",
    "Mul",      "Neg",       "Pad",         "Relu",         "Reshape", "GlobalAveragePool",
    "Slice",    "Split",     "Squeeze",     "StopGradient", "Sub",     "Transpose",
    "Where"};

template <size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Policy policy_of(std::string_view type) {
  if (among(kNarrow, type)) return Policy::kNarrow;
  if (among(kNormalize, type)) return Policy::kNormalize;
  if (among(kFollow, type) || type == "Unsqueeze") return Policy::kFollow;
  return Policy::kFull;
}

class PrecisionPass {
 public:
  PrecisionPass(const Graph& graph, DType narrow)
      : graph_(graph), narrow_(narrow), replay_(graph) {}

  Result<Graph> run() {
    replay_.sources();
    for (const Node& node : graph_.nodes()) ASSAY_TRY(replay_.node(node, inputs_of(node)));
    return replay_.finish(
        [&](ValueId old, ValueId now) { return cast(now, graph_.value(old).type.dtype); });
  }

 private:
  DType dtype(ValueId id) { return replay_.builder().type(id).dtype; }

  // The value in another type: one Cast for all its users.
  ValueId cast(ValueId value, DType to) {
    if (value == kNoValue || dtype(value) == to) return value;
    const auto [it, added] = casts_.try_emplace({value, to}, kNoValue);
    if (added) {
      const std::string name =
          replay_.builder().peek().value(value).name + "." + std::string(dtype_name(to));
      it->second = replay_.builder().add("Cast", {value}, {{"to", dtype_to_onnx(to)}}, name);
      // Casting back gives the value that was cast only when nothing was lost.
      if (dtype(value) == narrow_) casts_.try_emplace({it->second, narrow_}, value);
    }
    return it->second;
  }

  bool is_f32(ValueId old) const {
    return old != kNoValue && graph_.value(old).type.dtype == DType::kF32;
  }

  // Only f32 values change type; f64 and integers are what the author asked for.
  std::vector<ValueId> inputs_of(const Node& node) {
    const Policy policy = policy_of(node.op->type);
    const bool follows =
        policy == Policy::kFollow && std::ranges::any_of(node.inputs, [&](ValueId old) {
          return is_f32(old) && dtype(replay_.of(old)) == narrow_;
        });
    std::vector<ValueId> inputs;
    inputs.reserve(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId old = node.inputs[i];
      ValueId now = replay_.of(old);
      const bool keep = policy == Policy::kNormalize && i == 0;
      if (is_f32(old) && !keep) {
        now = cast(now, policy == Policy::kNarrow || follows ? narrow_ : DType::kF32);
      }
      inputs.push_back(now);
    }
    return inputs;
  }

  const Graph& graph_;
  DType narrow_;
  Replay replay_;
  std::map<std::pair<ValueId, DType>, ValueId> casts_;
};

}  // namespace

std::string_view precision_name(Precision precision) {
  return std::ranges::find(kPrecisions, precision, &NamedPrecision::precision)->name;
}

Result<Precision> parse_precision(std::string_view name) {
  const auto it = std::ranges::find(kPrecisions, name, &NamedPrecision::name);
  if (it != kPrecisions.end()) return it->precision;
  std::vector<std::string> known;
  known.reserve(kPrecisions.size());
  for (const NamedPrecision& p : kPrecisions) known.emplace_back(p.name);
  Error error{ErrorCode::kInvalid, "unknown precision '" + std::string(name) + "'"};
  const auto near = nearest_name(name, known);
  error.hint = near ? "did you mean '" + *near + "'?" : "known are " + join(known, ", ");
  return error;
}

Result<Graph> apply_precision(const Graph& graph, Precision precision) {
  switch (precision) {
    case Precision::kF32:
    case Precision::kTF32:
      return graph;
    case Precision::kBF16:
      return PrecisionPass(graph, DType::kBF16).run();
    case Precision::kF16:
      return PrecisionPass(graph, DType::kF16).run();
    case Precision::kInt8:
      break;
  }
  return Error{ErrorCode::kUnsupported, "int8 needs a graph with quantisation parameters",
               graph.name()};
}

}  // namespace assay

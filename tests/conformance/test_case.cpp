// SPDX-License-Identifier: Apache-2.0
#include "conformance/test_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "graph/operator.h"
#include "onnx/decode.h"
#include "onnx/read.h"

namespace assay::conformance {
namespace {

namespace fs = std::filesystem;

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;
// Half the generators of bf16 round to nearest, half towards zero: a unit in the last place.
constexpr double kRelativeBf16 = 1.0 / 128;
constexpr std::string_view kOutOfScope = "out of scope";

// Their expected outputs come from another generator of random numbers.
constexpr std::array<std::string_view, 7> kRandom{
    "Bernoulli",        "Dropout",       "Multinomial",      "RandomNormal",
    "RandomNormalLike", "RandomUniform", "RandomUniformLike"};

// Tests whose data was not made with the model beside it.
struct Defect {
  std::string_view test;
  std::string_view reason;
};
constexpr std::array<Defect, 1> kDefects{
    {{"node/test_adam_multiple", "the data was made with epsilon 0.01, which the model lacks"}}};

Verdict verdict_of(const Error& error) {
  const std::string text = error.text();
  if (text.find(kOutOfScope) != std::string::npos) return {Outcome::kOutOfScope, text};
  const bool refused = error.code == ErrorCode::kUnsupported;
  return {refused ? Outcome::kUnsupported : Outcome::kFailed, text};
}

Result<std::vector<Tensor>> read_tensors(const fs::path& folder, std::string_view prefix) {
  std::vector<Tensor> tensors;
  for (size_t i = 0;; ++i) {
    const fs::path file = folder / (std::string(prefix) + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return tensors;
    ASSAY_ASSIGN(const std::string bytes, read_file(file));
    ASSAY_ASSIGN(Tensor tensor, parse_onnx_tensor(bytes, file.filename().string()));
    tensors.push_back(std::move(tensor));
  }
}

std::vector<TensorView> views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> all;
  for (const Tensor& tensor : tensors) all.push_back(tensor.view());
  return all;
}

bool draws_random_numbers(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    if (std::ranges::find(kRandom, node.op->type) == kRandom.end()) return false;
    if (node.op->type != "Dropout") return true;
    if (node.inputs.size() < 3) return false;
    const Tensor* training = graph.constant_data(node.inputs[2]);
    return training == nullptr || training->values<uint8_t>()[0] != 0;
  });
}

// The value of element `i`, whatever the type.
double number_at(const Tensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return static_cast<double>(tensor.values<float>()[i]);
    case DType::kF64:
      return tensor.values<double>()[i];
    case DType::kF16:
      return static_cast<double>(f16_to_f32(tensor.values<uint16_t>()[i]));
    case DType::kBF16:
      return static_cast<double>(bf16_to_f32(tensor.values<uint16_t>()[i]));
    default:
      return 0;
  }
}

bool is_wide_floating(DType dtype) { return is_floating(dtype) && dtype_bits(dtype) >= 16; }

bool agree(double actual, double expected, double relative) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= kAbsolute + relative * std::abs(expected);
}

// Nothing, or what differs first.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected) {
  const auto count = static_cast<size_t>(expected.elements());
  if (!is_wide_floating(expected.dtype())) {
    const auto bytes = static_cast<size_t>(expected.bytes());
    const auto* a = static_cast<const unsigned char*>(actual.data());
    const auto* b = static_cast<const unsigned char*>(expected.data());
    const auto [at, ignored] = std::mismatch(a, a + bytes, b);
    if (at == a + bytes) return std::nullopt;
    return "bytes differ from " + std::to_string(at - a) + " on: " + std::to_string(*at) +
           " where " + std::to_string(b[at - a]) + " is expected";
  }
  const double relative = expected.dtype() == DType::kBF16 ? kRelativeBf16 : kRelative;
  size_t different = 0;
  size_t first = 0;
  for (size_t i = 0; i < count; ++i) {
    if (agree(number_at(actual, i), number_at(expected, i), relative)) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return std::nullopt;
  return std::to_string(different) + " of " + std::to_string(count) + " elements differ, first " +
         std::to_string(first) + ": " + std::to_string(number_at(actual, first)) + " where " +
         std::to_string(number_at(expected, first)) + " is expected";
}

// Older generators wrote the bits of bf16 as u16.
Tensor with_type(const Tensor& tensor, DType wanted) {
  if (tensor.dtype() != DType::kU16 || wanted != DType::kBF16) return tensor;
  Tensor bits = Tensor::allocate(wanted, tensor.shape());
  std::ranges::copy(tensor.values<uint16_t>(), bits.values<uint16_t>().begin());
  return bits;
}

// The tensors of a data set, in the graph's types. `ids` are its inputs or outputs.
Result<std::vector<Tensor>> read_values(const Graph& graph, std::span<const ValueId> ids,
                                        const fs::path& folder, std::string_view prefix) {
  ASSAY_ASSIGN(std::vector<Tensor> tensors, read_tensors(folder, prefix));
  if (tensors.size() != ids.size()) {
    return Error{ErrorCode::kInvalid,
                 "the graph has " + std::to_string(ids.size()) + " of " + std::string(prefix) +
                     "*, the data " + std::to_string(tensors.size()),
                 ""};
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    tensors[i] = with_type(tensors[i], graph.value(ids[i]).type.dtype);
  }
  return tensors;
}

// The graph read again, for inputs of these shapes.
Result<Graph> read_for(const std::string& file, const Graph& graph,
                       const std::vector<Tensor>& inputs) {
  OnnxOptions options;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs()[i]);
    if (value.type.known() && value.type.shape->sizes() != inputs[i].shape()) {
      return Error{ErrorCode::kUnsupported,
                   "the data contradicts the model: " + inputs[i].type().text() + " where " +
                       value.name + " is " + value.type.text(),
                   ""};
    }
    options.input_shapes[value.name] = Shape::of(inputs[i].shape());
  }
  return read_onnx(file, options);
}

// Buffers for the outputs; kInvalid where the graph's types contradict what is expected.
Result<std::vector<Tensor>> buffers_for(const Graph& graph, const std::vector<Tensor>& expected) {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorType& type = graph.value(graph.outputs()[i]).type;
    const TensorType wanted = expected[i].type();
    if (type.dtype != wanted.dtype || (type.known() && type != wanted)) {
      return Error{
          ErrorCode::kInvalid,
          "output " + std::to_string(i) + " is " + type.text() + ", expected " + wanted.text(), ""};
    }
    outputs.push_back(Tensor::zeros(wanted.dtype, expected[i].shape()));
  }
  return outputs;
}

Result<Verdict> run_data_set(const std::string& file, const Graph& declared, const fs::path& data,
                             Engine& engine) {
  ASSAY_ASSIGN(const auto inputs, read_values(declared, declared.inputs(), data, "input_"));
  ASSAY_ASSIGN(const auto expected, read_values(declared, declared.outputs(), data, "output_"));
  ASSAY_ASSIGN(const Graph graph, read_for(file, declared, inputs));
  Plan plan;
  plan.threads = 1;
  if (const auto reasons = engine.unsupported(graph, plan); !reasons.empty()) {
    return Verdict{Outcome::kUnsupported, reasons[0].op_type + ": " + reasons[0].reason};
  }
  ASSAY_ASSIGN(const auto program, engine.compile(graph, plan, {}, RandomKey(0)));
  ASSAY_ASSIGN(const std::vector<Tensor> outputs, buffers_for(graph, expected));
  ASSAY_TRY(program->run(views(inputs), views(outputs)));
  if (draws_random_numbers(graph)) {
    return Verdict{Outcome::kUnsupported, "random numbers: only types and shapes can be compared"};
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (const auto different = difference(outputs[i], expected[i])) {
      return Error{ErrorCode::kInvalid, "output " + std::to_string(i) + ": " + *different, ""};
    }
  }
  return Verdict{};
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  constexpr std::array<std::string_view, 4> kNames{"passed", "unsupported", "out-of-scope",
                                                   "failed"};
  return kNames[static_cast<size_t>(outcome)];
}

std::string subject_of(const TestCase& test) {
  const auto bytes = read_file(test.folder / "model.onnx");
  if (!bytes.ok()) return "";
  const auto model = onnx::decode_model(*bytes, "");
  if (!model.ok()) return "";
  std::string subject;
  for (const onnx::NodeRecord& node : model->graph->nodes) {
    if (node.type == "Constant") continue;
    if (!subject.empty()) return "";
    subject = node.type;
  }
  return subject.empty() && !model->graph->nodes.empty() ? "Constant" : subject;
}

Result<std::vector<TestCase>> find_tests(const fs::path& root) {
  std::error_code error;
  std::vector<TestCase> tests;
  for (auto it = fs::recursive_directory_iterator(root, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().filename() != "model.onnx") continue;
    const fs::path folder = it->path().parent_path();
    if (!fs::exists(folder / "test_data_set_0")) continue;
    tests.push_back({folder.lexically_relative(root).generic_string(), folder});
  }
  if (error) return Error{ErrorCode::kIo, error.message(), root.string()};
  if (tests.empty()) {
    return Error{ErrorCode::kNotFound, "no tests are here", root.string(),
                 "apt-get install libonnx-testdata"};
  }
  std::ranges::sort(tests, {}, &TestCase::name);
  return tests;
}

Verdict run_test(const TestCase& test, Engine& engine) {
  const auto defect = std::ranges::find(kDefects, test.name, &Defect::test);
  if (defect != kDefects.end()) return {Outcome::kOutOfScope, std::string(defect->reason)};
  const std::string file = (test.folder / "model.onnx").string();
  const auto graph = read_onnx(file);
  if (!graph.ok()) return verdict_of(graph.error());
  Verdict verdict;
  for (int n = 0; verdict.outcome == Outcome::kPassed; ++n) {
    const fs::path data = test.folder / ("test_data_set_" + std::to_string(n));
    if (!fs::exists(data)) break;
    const auto result = run_data_set(file, *graph, data, engine);
    verdict = result.ok() ? *result : verdict_of(result.error());
  }
  return verdict;
}

}  // namespace assay::conformance

// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/golden_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "graph/builder.h"
#include "graph/interpret.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

template <class T>
Tensor values_of(const Json& json, DType dtype, std::vector<int64_t> shape) {
  std::vector<T> values;
  for (const Json& value : json["values"]) {
    values.push_back(value.is_boolean() ? static_cast<T>(value.get<bool>()) : value.get<T>());
  }
  return Tensor::from<T>(dtype, std::move(shape), std::span<const T>(values));
}

// A 16-bit floating tensor from numbers that it holds exactly.
Tensor narrow_of(const Json& json, DType dtype, std::vector<int64_t> shape) {
  Tensor narrow = Tensor::allocate(dtype, shape);
  narrow_into(values_of<float>(json, DType::kF32, std::move(shape)), narrow);
  return narrow;
}

Tensor tensor_of(const Json& json) {
  if (json.is_null()) return {};
  const DType dtype = *dtype_from_name(json["type"].get<std::string>());
  auto shape = json["shape"].get<std::vector<int64_t>>();
  if (json.contains("bits")) {
    Tensor tensor = Tensor::allocate(dtype, std::move(shape));
    const auto bits = json["bits"].get<std::vector<uint8_t>>();
    ASSAY_ASSERT(static_cast<int64_t>(bits.size()) == tensor.bytes(), "a golden tensor's bytes");
    std::memcpy(tensor.data(), bits.data(), bits.size());
    return tensor;
  }
  if (is_16bit_floating(dtype)) return narrow_of(json, dtype, std::move(shape));
  Tensor tensor;
  const auto done = dispatch_arithmetic(
      dtype, [&]<class T>() { tensor = values_of<T>(json, dtype, std::move(shape)); });
  ASSAY_ASSERT(done.ok(), "a golden tensor of type " + std::string(dtype_name(dtype)));
  return tensor;
}

Attribute attribute_of(const Json& json) {
  if (json.contains("i")) return json["i"].get<int64_t>();
  if (json.contains("f")) return json["f"].get<float>();
  if (json.contains("s")) return json["s"].get<std::string>();
  if (json.contains("t")) return tensor_of(json["t"]);
  if (json.contains("fs")) return json["fs"].get<std::vector<float>>();
  if (json.contains("ss")) return json["ss"].get<std::vector<std::string>>();
  return json["is"].get<std::vector<int64_t>>();
}

GoldenCase case_of(const Json& json) {
  GoldenCase golden;
  golden.name = json["name"].get<std::string>();
  golden.op = json["op"].get<std::string>();
  for (const auto& [name, value] : json["attributes"].items()) {
    golden.attributes.set(name, attribute_of(value));
  }
  for (const Json& tensor : json["inputs"]) golden.inputs.push_back(tensor_of(tensor));
  for (const Json& tensor : json["outputs"]) golden.outputs.push_back(tensor_of(tensor));
  golden.terms = json["terms"].get<double>();
  if (!json["weight"].is_null()) golden.weight = json["weight"].get<int>();
  golden.constants = json["constants"].get<std::set<size_t>>();
  golden.all_types = json["all_types"].get<bool>();
  return golden;
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0x1p-23;
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    default:
      return 1e-12;  // the digits that the file has
  }
}

}  // namespace

// Every golden*.json of the folder, so that a family can bring its own.
const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> cases = [] {
    std::vector<std::filesystem::path> paths;
    const std::filesystem::path folder(ASSAY_SOURCE_DIR "/tests/graph/ops");
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    std::vector<GoldenCase> all;
    for (const std::filesystem::path& path : paths) {
      const auto text = read_file(path);
      ASSAY_ASSERT(text.ok(), text.error().text());
      const auto json = parse_json(*text, path.string());
      ASSAY_ASSERT(json.ok(), json.error().text());
      for (const Json& item : *json) all.push_back(case_of(item));
    }
    return all;
  }();
  return cases;
}

void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.name; }

Tensor retyped(const Tensor& tensor, DType floating) {
  if (tensor.empty() || tensor.dtype() != DType::kF64 || floating == DType::kF64) return tensor;
  Tensor wide = Tensor::allocate(DType::kF32, tensor.shape());
  std::ranges::transform(tensor.values<double>(), wide.values<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  if (floating == DType::kF32) return wide;
  Tensor narrow = Tensor::allocate(floating, tensor.shape());
  narrow_into(wide, narrow);
  return narrow;
}

std::vector<Tensor> run_case(const GoldenCase& golden, const std::vector<Tensor>& inputs) {
  GraphBuilder builder("case");
  std::vector<ValueId> ids;
  std::vector<const Tensor*> data;
  bool all_constant = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    if (inputs[i].empty()) {
      ids.push_back(kNoValue);
    } else if (golden.constants.contains(i)) {
      ids.push_back(builder.constant(name, inputs[i]));
    } else {
      ids.push_back(builder.input(name, inputs[i].type()));
      all_constant = false;
    }
    data.push_back(inputs[i].empty() ? nullptr : &inputs[i]);
  }
  const std::string_view op_name = golden.op;
  const size_t dot = op_name.rfind('.');
  const bool own = dot != std::string_view::npos;
  const std::string_view domain = own ? op_name.substr(0, dot) : std::string_view();
  const std::string_view op_type = own ? op_name.substr(dot + 1) : op_name;
  const auto tried =
      builder.try_add(domain, op_type, ids, golden.outputs.size(), golden.attributes, "");
  if (!tried.ok()) {
    ADD_FAILURE() << golden.name << ": " << tried.error().text();
    return {};
  }
  const std::vector<ValueId>& added = *tried;
  std::vector<TensorType> types;
  for (size_t i = 0; i < added.size(); ++i) {
    types.push_back(builder.type(added[i]));
    if (types.back().known() && !golden.outputs[i].empty()) {
      EXPECT_EQ(types.back().shape->text(), golden.outputs[i].type().shape->text()) << golden.name;
    }
  }
  const OpEntry* op = op_table().find(domain, op_type);
  const auto attributes = complete_attributes(*op, golden.attributes);
  const bool known = std::ranges::all_of(types, &TensorType::known);
  EXPECT_TRUE(known || op->sizes_outputs) << golden.name << ": a shape is not known";
  auto ran = run_operator(*op, data, types, *attributes);
  if (!ran.ok()) {
    ADD_FAILURE() << golden.name << ": " << ran.error().text();
    return {};
  }
  std::vector<Tensor> outputs = std::move(ran).value();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (golden.outputs[i].empty()) continue;
    EXPECT_EQ(outputs[i].shape(), golden.outputs[i].shape()) << golden.name;
  }
  if (all_constant) {  // it has folded to the same data
    const Tensor* folded = builder.peek().constant_data(added[0]);
    EXPECT_NE(folded, nullptr);
  }
  return outputs;
}

double worst_error(const GoldenCase& golden, const std::vector<Tensor>& outputs, DType floating) {
  double worst = outputs.empty() ? INFINITY : 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (golden.outputs[i].empty()) continue;         // nobody says what it is
    if (golden.outputs[i].dtype() != DType::kF64) {  // f64 stands for any floating type
      EXPECT_EQ(dtype_name(outputs[i].dtype()), dtype_name(golden.outputs[i].dtype()));
    }
    if (dtype_bits(outputs[i].dtype()) < 8 || is_8bit_floating(outputs[i].dtype())) {
      const bool same = std::memcmp(outputs[i].data(), golden.outputs[i].data(),
                                    static_cast<size_t>(outputs[i].bytes())) == 0;
      if (!same) worst = INFINITY;
      continue;
    }
    const std::vector<double> values = *as_doubles(outputs[i]);
    const std::vector<double> expected = *as_doubles(golden.outputs[i]);
    double scale = 0;
    for (const double value : expected) scale = std::max(scale, std::abs(value));
    const bool exact = !is_floating(outputs[i].dtype());
    const double tolerance = exact ? 0.5
                                   : 4 * std::max(epsilon(floating), epsilon(outputs[i].dtype())) *
                                         std::sqrt(golden.terms) * std::max(scale, 1e-6);
    if (values.size() != expected.size()) return INFINITY;
    for (size_t j = 0; j < values.size(); ++j) {
      const double error = std::abs(values[j] - expected[j]) / tolerance;
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

}  // namespace assay

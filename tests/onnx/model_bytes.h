// SPDX-License-Identifier: Apache-2.0
//
// ONNX files for tests, message by message, right or wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <protozero/pbf_writer.hpp>

namespace assay::onnx {

using Writer = protozero::pbf_writer;
using Fields = std::function<void(Writer&)>;  // adds fields to a message

inline std::string message_of(const Fields& fields) {
  std::string bytes;
  Writer writer(bytes);
  fields(writer);
  return bytes;
}

// Attributes of a node.
inline Fields int_attribute(std::string name, int64_t value) {
  return [=](Writer& node) {
    Writer out(node, 5);
    out.add_string(1, name);
    out.add_int64(3, value);
    out.add_int64(20, 2);
  };
}
inline Fields ints_attribute(std::string name, std::vector<int64_t> values) {
  return [=](Writer& node) {
    Writer out(node, 5);
    out.add_string(1, name);
    for (const int64_t value : values) out.add_int64(8, value);
    out.add_int64(20, 7);
  };
}
inline Fields float_attribute(std::string name, float value) {
  return [=](Writer& node) {
    Writer out(node, 5);
    out.add_string(1, name);
    out.add_float(2, value);
    out.add_int64(20, 1);
  };
}
inline Fields text_attribute(std::string name, std::string value) {
  return [=](Writer& node) {
    Writer out(node, 5);
    out.add_string(1, name);
    out.add_string(4, value);
    out.add_int64(20, 3);
  };
}
inline Fields graph_attribute(std::string name, std::string graph) {
  return [=](Writer& node) {
    Writer out(node, 5);
    out.add_string(1, name);
    out.add_message(6, graph);
    out.add_int64(20, 5);
  };
}

// TensorProto.
inline std::string tensor_bytes(const std::string& name, int64_t type,
                                const std::vector<int64_t>& dims, const Fields& data) {
  return message_of([&](Writer& out) {
    for (const int64_t dim : dims) out.add_int64(1, dim);
    out.add_int64(2, type);
    out.add_string(8, name);
    data(out);
  });
}
inline Fields raw(std::string bytes) {
  return [=](Writer& out) { out.add_bytes(9, bytes); };
}
inline Fields floats(const std::vector<float>& values) {
  return [=](Writer& out) { out.add_packed_float(4, values.begin(), values.end()); };
}
inline Fields int64s(const std::vector<int64_t>& values) {
  return [=](Writer& out) { out.add_packed_int64(7, values.begin(), values.end()); };
}
inline Fields int32s(const std::vector<int32_t>& values) {
  return [=](Writer& out) { out.add_packed_int32(5, values.begin(), values.end()); };
}

class GraphBytes {
 public:
  explicit GraphBytes(const std::string& name = "g") : writer_(bytes_) {
    writer_.add_string(2, name);
  }
  // A dimension below 0 is unknown.
  GraphBytes& input(const std::string& name, int64_t type, const std::vector<int64_t>& dims) {
    return value(11, name, type, dims);
  }
  GraphBytes& output(const std::string& name, int64_t type, const std::vector<int64_t>& dims) {
    return value(12, name, type, dims);
  }
  GraphBytes& node(const std::string& type, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs,
                   const std::vector<Fields>& attributes = {}, const std::string& name = "",
                   const std::string& domain = "") {
    Writer out(writer_, 1);
    for (const std::string& input : inputs) out.add_string(1, input);
    for (const std::string& output : outputs) out.add_string(2, output);
    if (!name.empty()) out.add_string(3, name);
    out.add_string(4, type);
    for (const Fields& attribute : attributes) attribute(out);
    if (!domain.empty()) out.add_string(7, domain);
    return *this;
  }
  GraphBytes& initializer(const std::string& tensor) {
    writer_.add_message(5, tensor);
    return *this;
  }
  GraphBytes& add(const Fields& fields) {
    fields(writer_);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  GraphBytes& value(int field, const std::string& name, int64_t type,
                    const std::vector<int64_t>& dims) {
    Writer out(writer_, static_cast<protozero::pbf_tag_type>(field));
    out.add_string(1, name);
    Writer type_message(out, 2);
    Writer tensor(type_message, 1);
    tensor.add_int64(1, type);
    std::string shape;
    Writer shape_message(shape);
    for (const int64_t dim : dims) {
      shape_message.add_message(1, message_of([dim](Writer& one) {
                                  if (dim >= 0) one.add_int64(1, dim);
                                }));
    }
    tensor.add_message(2, shape);
    return *this;
  }

  std::string bytes_;
  Writer writer_;
};

inline std::string model_bytes(
    const std::string& graph, int64_t opset = 21, const Fields& more = [](Writer&) {}) {
  return message_of([&](Writer& out) {
    out.add_int64(1, 8);
    out.add_message(7, graph);
    {
      Writer import(out, 8);
      import.add_string(1, "");
      import.add_int64(2, opset);
    }
    more(out);
  });
}
inline std::string model_bytes(
    const GraphBytes& graph, int64_t opset = 21, const Fields& more = [](Writer&) {}) {
  return model_bytes(graph.bytes(), opset, more);
}

}  // namespace assay::onnx

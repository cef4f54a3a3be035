// SPDX-License-Identifier: Apache-2.0
#include "data/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefix = 8;      // magic and version
constexpr size_t kAlignment = 64;  // of the elements, as NumPy writes them

struct NamedType {
  std::string_view name;
  DType dtype;
};
constexpr std::array<NamedType, 13> kTypes{{{"<f4", DType::kF32},
                                            {"<f8", DType::kF64},
                                            {"<f2", DType::kF16},
                                            {"|i1", DType::kI8},
                                            {"|u1", DType::kU8},
                                            {"<i2", DType::kI16},
                                            {"<u2", DType::kU16},
                                            {"<i4", DType::kI32},
                                            {"<u4", DType::kU32},
                                            {"<i8", DType::kI64},
                                            {"<u8", DType::kU64},
                                            {"|b1", DType::kBool},
                                            {"<b1", DType::kBool}}};

// The header is a Python dictionary of three entries.
class Header {
 public:
  Header(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  Result<TensorType> parse() {
    ASSAY_ASSIGN(const std::string_view descr, after("descr"));
    ASSAY_ASSIGN(const std::string_view order, after("fortran_order"));
    ASSAY_ASSIGN(const std::string_view shape, after("shape"));
    ASSAY_ASSIGN(const DType dtype, dtype_of(descr));
    if (order.starts_with("True")) {
      return Error{ErrorCode::kUnsupported, "the array is in column-major order",
                   std::string(place_), "save numpy.ascontiguousarray(array)"};
    }
    if (!order.starts_with("False")) return corrupt("fortran_order is neither True nor False");
    ASSAY_ASSIGN(std::vector<int64_t> sizes, sizes_of(shape));
    return TensorType(dtype, Shape::of(sizes));
  }

 private:
  Error corrupt(std::string message) const {
    return {ErrorCode::kCorrupt, std::move(message), std::string(place_)};
  }

  // What follows "'KEY':".
  Result<std::string_view> after(std::string_view key) const {
    const std::string quoted = "'" + std::string(key) + "'";
    const size_t at = text_.find(quoted);
    if (at == std::string_view::npos) return corrupt("the header has no " + std::string(key));
    const std::string_view rest = trim(text_.substr(at + quoted.size()));
    if (!rest.starts_with(":")) return corrupt("the header is no dictionary");
    return trim(rest.substr(1));
  }

  Result<DType> dtype_of(std::string_view descr) const {
    const size_t end = descr.empty() ? std::string_view::npos : descr.find(descr[0], 1);
    if (end == std::string_view::npos || (descr[0] != '\'' && descr[0] != '"')) {
      return Error{ErrorCode::kUnsupported, "a structured array", std::string(place_)};
    }
    const std::string_view name = descr.substr(1, end - 1);
    const auto found = std::ranges::find(kTypes, name, &NamedType::name);
    if (found != kTypes.end()) return found->dtype;
    return Error{ErrorCode::kUnsupported, "element type '" + std::string(name) + "'",
                 std::string(place_)};
  }

  Result<std::vector<int64_t>> sizes_of(std::string_view shape) const {
    const size_t end = shape.find(')');
    if (!shape.starts_with("(") || end == std::string_view::npos) {
      return corrupt("the shape is no tuple");
    }
    std::vector<int64_t> sizes;
    for (const std::string& part : split(shape.substr(1, end - 1), ',')) {
      const std::string_view digits = trim(part);
      if (digits.empty()) continue;
      const auto size = parse_int(digits);
      if (!size.ok() || *size < 0) return corrupt("a dimension is '" + std::string(digits) + "'");
      sizes.push_back(*size);
    }
    return sizes;
  }

  std::string_view text_;
  std::string_view place_;
};

// The number of bytes of the header's length, by major version; 0 for one that is not known.
size_t length_bytes(unsigned char major) {
  if (major == 1) return 2;
  return major == 2 || major == 3 ? 4 : 0;
}

// A tensor of a type that NumPy has.
Tensor representable(const Tensor& tensor) {
  if (std::ranges::find(kTypes, tensor.dtype(), &NamedType::dtype) != kTypes.end()) return tensor;
  const bool floating = is_floating(tensor.dtype());
  const bool is_signed = tensor.dtype() == DType::kI4;
  const DType wide = floating ? DType::kF32 : is_signed ? DType::kI8 : DType::kU8;
  Tensor copy = Tensor::allocate(wide, tensor.shape());
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) {
    if (tensor.dtype() == DType::kBF16) {
      copy.values<float>()[i] = bf16_to_f32(tensor.values<uint16_t>()[i]);
    } else if (floating) {
      copy.values<float>()[i] = f8_to_f32(tensor.dtype(), bytes[i]);
    } else {
      const unsigned nibble = (bytes[i / 2] >> (i % 2 * 4)) & 15U;
      const bool negative = is_signed && nibble >= 8;
      copy.values<uint8_t>()[i] = static_cast<uint8_t>(negative ? nibble + 240 : nibble);
    }
  }
  return copy;
}

}  // namespace

Result<Tensor> parse_npy(std::string_view bytes, std::string_view place) {
  const auto corrupt = [&place](std::string message) {
    return Error{ErrorCode::kCorrupt, std::move(message), std::string(place)};
  };
  if (!bytes.starts_with(kMagic) || bytes.size() < kPrefix) return corrupt("not an NPY file");
  const size_t width = length_bytes(static_cast<unsigned char>(bytes[6]));
  if (width == 0) return corrupt("a version of NPY that is not known");
  size_t length = 0;
  for (size_t i = 0; i < width && kPrefix + i < bytes.size(); ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(bytes[kPrefix + i])) << (8 * i);
  }
  const size_t begin = kPrefix + width;
  if (bytes.size() < begin || bytes.size() - begin < length) return corrupt("the header is cut");
  ASSAY_ASSIGN(const TensorType type, Header(bytes.substr(begin, length), place).parse());
  const auto size = type.bytes();
  if (!size.ok()) return corrupt(size.error().message);
  const std::string_view elements = bytes.substr(begin + length);
  if (static_cast<int64_t>(elements.size()) != *size) {
    return corrupt(std::to_string(elements.size()) + " bytes of elements where " + type.text() +
                   " needs " + std::to_string(*size));
  }
  Tensor tensor = Tensor::allocate(type.dtype, type.shape->sizes());
  if (!elements.empty()) std::memcpy(tensor.data(), elements.data(), elements.size());
  return tensor;
}

std::string npy_bytes(const Tensor& given) {
  const Tensor tensor = representable(given);
  const auto type = std::ranges::find(kTypes, tensor.dtype(), &NamedType::dtype);
  std::string header =
      "{'descr': '" + std::string(type->name) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : tensor.shape()) header += std::to_string(size) + ",";
  header += "), }";
  const size_t unpadded = kPrefix + 2 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
  return bytes;
}

}  // namespace assay

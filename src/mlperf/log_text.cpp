// SPDX-License-Identifier: Apache-2.0
#include "mlperf/log_text.h"

#include "base/json.h"

namespace assay {

void write_json(const Json& json, std::string& out) {
  if (json.is_object()) {
    out += '{';
    const char* separator = "";
    for (const auto& [key, value] : json.items()) {
      out += separator + Json(key).dump(-1, ' ', true) + ": ";
      write_json(value, out);
      separator = ", ";
    }
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    const char* separator = "";
    for (const Json& value : json) {
      out += separator;
      write_json(value, out);
      separator = ", ";
    }
    out += ']';
  } else {
    out += json.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

}  // namespace assay

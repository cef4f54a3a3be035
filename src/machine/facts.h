// SPDX-License-Identifier: Apache-2.0
//
// Facts: a JSON object in the making whose unknown values are null, with the reason kept apart.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace assay {

class Facts {
 public:
  template <class T>
  void put(const std::string& field, T value) {
    json_[field] = std::move(value);
  }
  template <class T>
  void put(const std::string& field, Result<T> value) {
    if (value.ok()) {
      json_[field] = std::move(value).value();
    } else {
      put_missing(field, value.error().message);
    }
  }
  void put_missing(const std::string& field, const std::string& reason) {
    json_[field] = nullptr;
    missing_[field] = reason;
  }
  // The object, with "missing" last where there is something missing.
  Json take() && {
    if (!missing_.empty()) json_["missing"] = std::move(missing_);
    return std::move(json_);
  }

 private:
  Json json_ = Json::object();
  Json missing_ = Json::object();
};

}  // namespace assay

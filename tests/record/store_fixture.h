// SPDX-License-Identifier: Apache-2.0
//
// A store in a folder of its own that goes with the test.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

#include "record/store.h"

namespace assay {

class StoreFixture : public testing::Test {
 protected:
  StoreFixture() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-store-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~StoreFixture() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path path() const { return folder_ / "assay.db"; }
  Store open() const {
    Result<Store> store = Store::open(path());
    EXPECT_TRUE(store.ok()) << store.error().text();
    return std::move(store).value();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace assay

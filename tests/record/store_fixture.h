// SPDX-License-Identifier: Apache-2.0
//
// A store in a folder of its own that goes with the test.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "record/store.h"

namespace assay {

class StoreFixture : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path path() const { return folder_ / "assay.db"; }
  Store open() const {
    Result<Store> store = Store::open(path());
    EXPECT_TRUE(store.ok()) << store.error().text();
    return std::move(store).value();
  }

 private:
  ScratchFolder folder_;
};

}  // namespace assay

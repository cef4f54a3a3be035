// SPDX-License-Identifier: Apache-2.0
#include "machine/platform.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "machine/environment.h"

namespace assay {
namespace {

TEST(Platform, CountsProcessorsAndGpusOfAKind) {
  const Json gpu{{"name", "NVIDIA H200"}};
  EXPECT_EQ(platform_text({{"cpu_model", " Example 9000 "},
                           {"sockets", 2},
                           {"gpus", Json::array({gpu, Json{{"name", "Other"}}, gpu})}}),
            "2 x Example 9000, 2 x NVIDIA H200, 1 x Other");
}

TEST(Platform, InventsNothing) {
  EXPECT_EQ(platform_text({{"cpu_model", nullptr}, {"sockets", nullptr}, {"gpus", nullptr}}),
            "1 x unknown processor");
  EXPECT_EQ(platform_text(Json::object()), "1 x unknown processor");
}

TEST(Platform, NamesThisMachine) {
  const Json environment = collect_environment();
  if (!environment["cpu_model"].is_string()) GTEST_SKIP() << "the processor hides its name";
  EXPECT_NE(platform_text(environment).find(environment["cpu_model"].get<std::string>()),
            std::string::npos);
}

}  // namespace
}  // namespace assay

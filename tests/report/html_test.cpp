// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Html, EscapesTextAndAttributes) {
  Html html;
  html.element("a", "<b> & \"'", {{"href", "x\"><script>'&"}});
  EXPECT_EQ(html.markup(),
            "<a href=\"x&quot;&gt;&lt;script&gt;&#39;&amp;\">&lt;b&gt; &amp; &quot;&#39;</a>");
}

TEST(Html, ReplacesWhatAPageMayNotHold) {
  EXPECT_EQ(html_escaped(std::string_view("a\0b\x1b[1m", 7)), "a\uFFFDb\uFFFD[1m");
  EXPECT_EQ(html_escaped("\xff\xc3"), "\uFFFD\uFFFD");
  EXPECT_EQ(html_escaped("\xe2\x82\xac µ \xf0\x9f\x98\x80\tx\n"), "€ µ 😀\tx\n");
}

TEST(Html, ClosesWhatItOpened) {
  Html html;
  html.open("p").text("a").open("b").text("c").close().close();
  EXPECT_EQ(html.markup(), "<p>a<b>c</b></p>\n");
}

TEST(HtmlDeathTest, AssertsThatElementsAreBalanced) {
  EXPECT_DEATH(Html().close(), "close");
  EXPECT_DEATH(
      {
        Html html;
        html.open("p");
        html.markup();
      },
      "still open");
}

}  // namespace
}  // namespace assay

#include "net/control/share_body.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isthmus::net {
namespace {

std::optional<ShareBody> decode_text(const std::string& text) {
  return decode_share(std::as_bytes(std::span(text)));
}

TEST(ShareBody, SaysWhatItSaid) {
  for (const double part : {0.0, 0.125, 1.0}) {
    const auto read = decode_share(encode_share({7, part}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->cluster, 7U);
    EXPECT_EQ(read->part, part);
  }
  EXPECT_GT(decode_share(encode_share({0, 1e-12}))->part, 0);
  EXPECT_EQ(decode_share(encode_share({0, 17}))->part, 1);
}

TEST(ShareBody, TakesNothingElse) {
  for (const char* text :
       {"", "1", "[]", "{}", "null", "{\"share\":1}", "{\"share\":{}}",
        "{\"share\":{\"cluster\":0}}", "{\"share\":{\"cluster\":-1,\"millionths\":5}}",
        "{\"share\":{\"cluster\":0,\"millionths\":-5}}",
        "{\"share\":{\"cluster\":0,\"millionths\":0.5}}", "{\"link\":{\"rate\":1}}"}) {
    EXPECT_FALSE(decode_text(text)) << text;
  }
  EXPECT_FALSE(decode_text("{\"share\":" + std::string(100'000, '[')));
  const auto most = decode_text("{\"share\":{\"cluster\":0,\"millionths\":18446744073709551615}}");
  ASSERT_TRUE(most);
  EXPECT_EQ(most->part, 1);
}

}  // namespace
}  // namespace isthmus::net

#include "daemon/control/control.hpp"

#include <gtest/gtest.h>

#include <random>

namespace isthmus::daemon {
namespace {

TEST(Control, ASecretIsGoneOnceItIsRead) {
  ControlDecoder decoder;
  decoder.feed(R"({"op":"configure","secret":"00ff","services":[{"secret":"11ee","at":"x"}]})"
               "\n");
  auto message = decoder.next();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body.at("secret"), "00ff");
  message->wipe_secrets();
  EXPECT_EQ(message->body.at("secret"), "");
  EXPECT_EQ(message->body.at("services").at(0).at("secret"), "");
  EXPECT_EQ(message->body.at("services").at(0).at("at"), "x");
}

TEST(Control, MessagesComeBackAsTheyWereSent) {
  const std::string payload("a\nb\0c", 5);
  const std::string wire = encode({{"op", "stdin"}}, payload) + encode({{"op", "end"}});
  // Any cut of the stream gives the same messages.
  for (std::size_t step = 1; step <= wire.size(); ++step) {
    ControlDecoder decoder;
    std::vector<ControlMessage> got;
    for (std::size_t at = 0; at < wire.size(); at += step) {
      decoder.feed(std::string_view(wire).substr(at, step));
      while (auto message = decoder.next()) got.push_back(*message);
    }
    ASSERT_EQ(got.size(), 2U) << "step " << step;
    EXPECT_EQ(got[0].op(), "stdin");
    EXPECT_EQ(got[0].bytes, payload);
    EXPECT_EQ(got[1].op(), "end");
    EXPECT_EQ(got[1].bytes, "");
  }
}

TEST(Control, ZeroBytesAreNoBytes) {
  ControlDecoder decoder;
  decoder.feed("{\"op\":\"stdin\",\"n\":0}\n{\"op\":\"kill\"}\n");
  EXPECT_EQ(decoder.next()->op(), "stdin");
  EXPECT_EQ(decoder.next()->op(), "kill");
  EXPECT_FALSE(decoder.next());
}

TEST(Control, StringsHoldAnyBytes) {
  const nlohmann::json body{{"op", "spawn"}, {"argv", {"t\xe9t", "a\nb", ""}}, {"x\xff", 1}};
  ControlDecoder decoder;
  decoder.feed(encode(body));
  EXPECT_EQ(decoder.next()->body, body);
}

TEST(Control, AHundredThousandArgumentsAreOneMessage) {
  nlohmann::json body{{"op", "spawn"}, {"argv", nlohmann::json::array()}};
  for (int i = 0; i < 100'000; ++i)
    body["argv"].push_back("an argument, \xe9, " + std::to_string(i));
  ControlDecoder decoder;
  decoder.feed(encode(body));
  EXPECT_EQ(decoder.next()->body, body);
}

class ControlGarbage : public testing::TestWithParam<const char*> {};

TEST_P(ControlGarbage, EndsTheStreamWithASentence) {
  ControlDecoder decoder;
  decoder.feed(GetParam());
  EXPECT_THROW(decoder.next(), ControlError);
  decoder.feed("{\"op\":\"end\"}\n");
  EXPECT_THROW(decoder.next(), ControlError) << "where messages begin is unknown by now";
}

INSTANTIATE_TEST_SUITE_P(Lines, ControlGarbage,
                         testing::Values("hello\n", "\n", "[1]\n", "{}\n", "{\"op\":3}\n",
                                         "{\"op\":\"stdin\",\"n\":-1}\n",
                                         "{\"op\":\"stdin\",\"n\":\"4\"}\n",
                                         "{\"op\":\"stdin\",\"n\":1e3}\n",
                                         "{\"op\":\"stdin\",\"n\":99999999999}\n", "\x80\x81\n"));

TEST(Control, AnOverlongLineIsRefusedBeforeItEnds) {
  ControlDecoder decoder;
  const std::string piece(64 * 1024, 'x');
  std::size_t fed = 0;
  EXPECT_THROW(
      while (fed < 4 * kMaxLine) {
        decoder.feed(piece);
        fed += piece.size();
        decoder.next();
      },
      ControlError);
  EXPECT_LE(fed, kMaxLine + piece.size());
}

TEST(Control, RandomBytesNeverCrash) {
  std::mt19937 random(7);
  const std::string alphabet = "{}[]\":,\n\\opn0123456789 \x01\xff";
  for (int round = 0; round < 2000; ++round) {
    ControlDecoder decoder;
    std::string bytes;
    const std::size_t size = random() % 200;
    for (std::size_t i = 0; i < size; ++i) bytes += alphabet[random() % alphabet.size()];
    decoder.feed(bytes);
    try {
      while (auto message = decoder.next()) EXPECT_TRUE(message->body.contains("op"));
    } catch (const ControlError& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

}  // namespace
}  // namespace isthmus::daemon

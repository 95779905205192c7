#include "net/host/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "net/host/no_threads_testbed.hpp"

namespace isthmus::net {
namespace {

using asio::ip::make_address;
using asio::ip::tcp;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<tcp::endpoint> resolved(const std::string& host, std::string* trouble = nullptr) {
  asio::io_context io;
  std::vector<tcp::endpoint> found;
  asio::co_spawn(io, resolve(host, 7, std::chrono::seconds(10)),
                 [&](std::exception_ptr error, std::vector<tcp::endpoint> endpoints) {
                   found = std::move(endpoints);
                   try {
                     if (error) std::rethrow_exception(error);
                   } catch (const std::exception& failed) {
                     if (trouble != nullptr) *trouble = failed.what();
                   }
                 });
  io.run();
  return found;
}

TEST(Resolve, NumericAddressesNeedNoThread) {
  const NoThreads none;
  EXPECT_THAT(resolved("127.0.0.1"), ElementsAre(tcp::endpoint(make_address("127.0.0.1"), 7)));
  EXPECT_THAT(resolved("::1"), ElementsAre(tcp::endpoint(make_address("::1"), 7)));
}

TEST(Resolve, AName) {
  EXPECT_THAT(resolved("localhost"), Contains(tcp::endpoint(make_address("127.0.0.1"), 7)));
}

TEST(Resolve, AnUnknownName) {
  std::string trouble;
  EXPECT_TRUE(resolved("no.such.host.invalid", &trouble).empty());
  EXPECT_THAT(trouble, HasSubstr("the host's name is not known"));
}

TEST(Resolve, ANameWithoutAThreadIsAnErrorWithReasonAndRemedy) {
  const NoThreads none;
  std::string trouble;
  EXPECT_TRUE(resolved("localhost", &trouble).empty());
  EXPECT_THAT(trouble,
              AllOf(HasSubstr("no thread to look up the host localhost"), HasSubstr("ulimit -u")));
}

}  // namespace
}  // namespace isthmus::net

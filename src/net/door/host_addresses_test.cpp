#include "net/door/host_addresses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/door/listener.hpp"

namespace isthmus::net {
namespace {

TEST(OwnAddress, IsFoundInASubnetAndAtAnInterface) {
  EXPECT_EQ(at_own_address("tcp:127.0.0.0/8:7400"), "tcp:127.0.0.1:7400");
  EXPECT_EQ(at_own_address("tcp:127.3.2.1/8:7400-7419"), "tcp:127.0.0.1:7400-7419");
  EXPECT_EQ(at_own_address("tcp:%lo:0"), "tcp:127.0.0.1:0");
}

TEST(OwnAddress, OtherAddressesStayAsTheyAre) {
  for (const char* address : {"tcp:10.1.2.3:7400", "tcp:[::1]:0", "tcp:gw.example:0", "unix:/x"}) {
    EXPECT_EQ(at_own_address(address), address);
  }
}

TEST(OwnAddress, WhereThereIsNoneThatIsTold) {
  for (const char* address : {"tcp:240.0.0.0/8:0", "tcp:%nonesuch:0", "tcp:[2001:db8::/32]:0"}) {
    try {
      at_own_address(address);
      ADD_FAILURE() << address;
    } catch (const ListenError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("has no address"));
      EXPECT_THAT(error.what(), testing::HasSubstr("127.0.0.1 (lo)"));
      EXPECT_THAT(error.remedy(), testing::HasSubstr("[network.NAME]"));
    }
  }
  EXPECT_ANY_THROW(at_own_address("tcp:10.1/99:0"));
}

}  // namespace
}  // namespace isthmus::net

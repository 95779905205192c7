#include "net/stream/gcm.hpp"

#ifdef ISTHMUS_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/hex.hpp"

namespace isthmus::net {
namespace {

using Bytes = std::vector<std::byte>;
using Make = std::unique_ptr<Gcm> (*)(Gcm::Way);

constexpr Gcm::Key kKey{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

// In place, in parts of random sizes.
bool pass_all(Gcm& gcm, std::span<std::byte> bytes, std::mt19937& random) {
  bool good = true;
  while (!bytes.empty()) {
    const std::size_t size = 1 + random() % bytes.size();
    good = good && gcm.pass(bytes.data(), size, bytes.data());
    bytes = bytes.subspan(size);
  }
  return good;
}

Bytes sealed(Gcm& gcm, unsigned char number, Bytes plain, std::mt19937& random) {
  EXPECT_TRUE(gcm.begin({number}, as_bytes(std::span("head"))));
  EXPECT_TRUE(pass_all(gcm, plain, random));
  plain.resize(plain.size() + Gcm::kTag);
  EXPECT_TRUE(gcm.write_tag(plain.data() + plain.size() - Gcm::kTag));
  return plain;
}

// Empty: refused.
std::optional<Bytes> opened(Gcm& gcm, unsigned char number, Bytes record, std::mt19937& random,
                            std::string head = "head") {
  head.push_back('\0');
  const auto body = std::span(record).first(record.size() - Gcm::kTag);
  EXPECT_TRUE(gcm.begin({number}, as_bytes(std::span(head))));
  EXPECT_TRUE(pass_all(gcm, body, random));
  if (!gcm.check_tag(body.data() + body.size())) return {};
  record.resize(body.size());
  return record;
}

// Sealed by the first and opened by the second.
class GcmTest : public testing::TestWithParam<std::pair<Make, Make>> {
 protected:
  void SetUp() override {
    seals_ = GetParam().first(Gcm::Way::Seal);
    opens_ = GetParam().second(Gcm::Way::Open);
    if (!seals_ || !opens_) GTEST_SKIP() << "libipsec-mb is not here";
    seals_->use_key(kKey);
    opens_->use_key(kKey);
  }

  std::mt19937 random_{7};
  std::unique_ptr<Gcm> seals_, opens_;
};

TEST_P(GcmTest, RecordsOfManySizesInAnyParts) {
  unsigned char number = 0;
  for (const std::size_t size :
       {0, 1, 15, 16, 17, 47, 48, 255, 256, 257, 767, 768, 4095, 16384, 16385}) {
    for (int turn = 0; turn < 3; ++turn) {
      const Bytes plain = random_bytes(random_, size);
      const Bytes record = sealed(*seals_, ++number, plain, random_);
      EXPECT_EQ(opened(*opens_, number, record, random_), plain) << size;
    }
  }
}

TEST_P(GcmTest, AChangedBitIsRefused) {
  const Bytes plain = random_bytes(random_, 100);
  const Bytes record = sealed(*seals_, 1, plain, random_);
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    Bytes changed = record;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(opened(*opens_, 1, changed, random_)) << bit;
  }
  EXPECT_FALSE(opened(*opens_, 2, record, random_)) << "another nonce";
  EXPECT_FALSE(opened(*opens_, 1, record, random_, "Head"));
  EXPECT_EQ(opened(*opens_, 1, record, random_), plain);
}

TEST_P(GcmTest, AnotherKeyFollows) {
  const Bytes plain = random_bytes(random_, 1000);
  Gcm::Key next = kKey;
  next[15] ^= 1;
  seals_->use_key(next);
  const Bytes record = sealed(*seals_, 1, plain, random_);
  EXPECT_FALSE(opened(*opens_, 1, record, random_));
  opens_->use_key(next);
  EXPECT_EQ(opened(*opens_, 1, record, random_), plain);
}

INSTANTIATE_TEST_SUITE_P(Libraries, GcmTest,
                         testing::Values(std::pair{&openssl_gcm, &openssl_gcm},
                                         std::pair{&openssl_gcm, &ipsec_mb_gcm},
                                         std::pair{&ipsec_mb_gcm, &openssl_gcm},
                                         std::pair{&ipsec_mb_gcm, &ipsec_mb_gcm}));

#ifdef ISTHMUS_IPSEC_MB
TEST(GcmKnownTest, TheLibraryOfThisHostIsUsed) {
  void* const library = ::dlopen("libIPSec_MB.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "it is not here";
  const auto version = reinterpret_cast<unsigned (*)()>(::dlsym(library, "imb_get_version"));
  ASSERT_NE(version, nullptr);
  if (version() >> 8 != IMB_VERSION_NUM >> 8) GTEST_SKIP() << "it is of another version";
  EXPECT_NE(ipsec_mb_gcm(Gcm::Way::Seal), nullptr);
}
#endif

// "The Galois/Counter Mode of Operation" (McGrew and Viega), test case 2.
TEST(GcmKnownTest, ABlockOfZeros) {
  for (const Make make : {&openssl_gcm, &ipsec_mb_gcm}) {
    const auto gcm = make(Gcm::Way::Seal);
    if (!gcm) continue;
    gcm->use_key({});
    Bytes record(32);
    EXPECT_TRUE(gcm->begin({}, {}));
    EXPECT_TRUE(gcm->pass(record.data(), 16, record.data()));
    EXPECT_TRUE(gcm->write_tag(record.data() + 16));
    const std::string_view bytes(reinterpret_cast<const char*>(record.data()), record.size());
    EXPECT_EQ(core::to_hex(bytes),
              "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf");
  }
}

}  // namespace
}  // namespace isthmus::net

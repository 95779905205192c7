#include "net/stream/tls_records.hpp"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace isthmus::net {
namespace {

constexpr std::size_t kTag = 16, kKey = 16;
constexpr auto kData = static_cast<std::byte>(TlsRecords::Type::Data);

// HKDF-Expand-Label of RFC 8446, section 7.1, without a context and for at most one hash.
void expand(const TlsRecords::Secret& secret, std::string_view label, std::span<unsigned char> to) {
  std::array<unsigned char, 32> text{}, out{};
  std::size_t size = 0;
  const auto put = [&](std::size_t byte) { text[size++] = static_cast<unsigned char>(byte); };
  put(0);
  put(to.size());
  put(label.size());
  for (const char c : label) put(static_cast<unsigned char>(c));
  put(0);  // no context
  put(1);  // the first block
  unsigned made = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), text.data(), size,
           out.data(), &made) == nullptr) {
    throw std::bad_alloc();
  }
  std::copy_n(out.begin(), to.size(), to.begin());
  OPENSSL_cleanse(out.data(), out.size());
}

}  // namespace

TlsRecords::TlsRecords(Way way, const Secret& secret)
    : cipher_(EVP_CIPHER_CTX_new()), secret_(secret) {
  const bool good = cipher_ && EVP_CipherInit_ex(cipher_.get(), EVP_aes_128_gcm(), nullptr, nullptr,
                                                 nullptr, static_cast<int>(way)) == 1;
  if (!good) throw std::bad_alloc();
  use_secret();
}

TlsRecords::~TlsRecords() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

void TlsRecords::use_secret() {
  std::array<unsigned char, kKey> key{};
  expand(secret_, "tls13 key", key);
  expand(secret_, "tls13 iv", iv_);
  const bool good =
      EVP_CipherInit_ex(cipher_.get(), nullptr, nullptr, key.data(), nullptr, -1) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  if (!good) throw std::bad_alloc();
  number_ = 0;
}

void TlsRecords::renew() {
  Secret next{};
  expand(secret_, "tls13 traffic upd", next);
  secret_ = next;
  OPENSSL_cleanse(next.data(), next.size());
  use_secret();
}

bool TlsRecords::begin(const std::byte* head) {
  std::array<unsigned char, 12> nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[nonce.size() - 1 - i] ^= static_cast<unsigned char>(number_ >> (8 * i));
  }
  ++number_;
  return EVP_CipherInit_ex(cipher_.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
         pass(head, kHead, nullptr);
}

bool TlsRecords::pass(const void* from, std::size_t size, void* to) {
  int done = 0;
  return size == 0 ||
         EVP_CipherUpdate(cipher_.get(), static_cast<unsigned char*>(to), &done,
                          static_cast<const unsigned char*>(from), static_cast<int>(size)) == 1;
}

bool TlsRecords::seal(std::span<const iovec> parts, std::byte* to, Type type) {
  std::size_t size = 1 + kTag;
  for (const iovec& part : parts) size += part.iov_len;
  to[0] = kData;
  to[1] = to[2] = std::byte{3};
  to[3] = static_cast<std::byte>(size >> 8);
  to[4] = static_cast<std::byte>(size);
  bool good = begin(to);
  to += kHead;
  for (const iovec& part : parts) {
    good = good && pass(part.iov_base, part.iov_len, to);
    to += part.iov_len;
  }
  int none = 0;
  return good && pass(&type, 1, to) &&
         EVP_CipherFinal_ex(cipher_.get(), reinterpret_cast<unsigned char*>(to), &none) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_GET_TAG, kTag, to + 1) == 1;
}

TlsRecords::Next TlsRecords::next(std::span<const std::byte> bytes) {
  if (bytes.size() < kHead) return {};
  const std::size_t body =
      std::to_integer<std::size_t>(bytes[3]) << 8 | std::to_integer<std::size_t>(bytes[4]);
  const bool ours = bytes[0] == kData && bytes[1] == std::byte{3} && bytes[2] == std::byte{3};
  if (!ours || body <= kTag || body > kMost + 1 + kTag) return {.foreign = true};
  return {.size = kHead + body};
}

std::optional<TlsRecords::Opened> TlsRecords::open(std::span<std::byte> record) {
  const std::span<std::byte> body = record.subspan(kHead, record.size() - kHead - kTag);
  std::byte* const tag = body.data() + body.size();
  std::array<unsigned char, kTag> none;
  int done = 0;
  if (!begin(record.data()) || !pass(body.data(), body.size(), body.data()) ||
      EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag) != 1 ||
      EVP_CipherFinal_ex(cipher_.get(), none.data(), &done) != 1) {
    return {};
  }
  std::size_t size = body.size();  // the type follows the content, zeros the type
  while (size > 0 && body[size - 1] == std::byte{0}) --size;
  if (size == 0) return Opened{};
  return Opened{static_cast<Type>(body[size - 1]), body.first(size - 1)};
}

}  // namespace isthmus::net

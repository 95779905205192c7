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
constexpr auto kAlert = std::byte{21}, kData = std::byte{23};

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

TlsRecords::TlsRecords(Way way, const Secret& secret) : cipher_(EVP_CIPHER_CTX_new()) {
  std::array<unsigned char, kKey> key{};
  expand(secret, "tls13 key", key);
  expand(secret, "tls13 iv", iv_);
  const bool good = cipher_ && EVP_CipherInit_ex(cipher_.get(), EVP_aes_128_gcm(), nullptr,
                                                 key.data(), nullptr, static_cast<int>(way)) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  if (!good) throw std::bad_alloc();
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

bool TlsRecords::seal(std::span<const iovec> parts, std::byte* to) {
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
  return good && pass(&kData, 1, to) &&
         EVP_CipherFinal_ex(cipher_.get(), reinterpret_cast<unsigned char*>(to), &none) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_GET_TAG, kTag, to + 1) == 1;
}

std::size_t TlsRecords::size(const std::byte* head) {
  const std::size_t body =
      std::to_integer<std::size_t>(head[3]) << 8 | std::to_integer<std::size_t>(head[4]);
  const bool ours = head[0] == kData && head[1] == std::byte{3} && head[2] == std::byte{3};
  return ours && body > kTag && body <= kMost + 1 + kTag ? kHead + body : 0;
}

TlsRecords::Opened TlsRecords::open(std::span<std::byte> record, std::span<const iovec> into) {
  bool good = begin(record.data());
  std::byte* at = record.data() + kHead;
  std::byte* const end = record.data() + record.size() - kTag - 1;
  for (const iovec& part : into) {
    const std::size_t size = std::min(part.iov_len, static_cast<std::size_t>(end - at));
    good = good && pass(at, size, part.iov_base);
    at += size;
  }
  good = good && pass(at, static_cast<std::size_t>(end - at) + 1, at);
  std::array<unsigned char, kTag> none;
  int done = 0;
  if (!good || EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_SET_TAG, kTag, end + 1) != 1 ||
      EVP_CipherFinal_ex(cipher_.get(), none.data(), &done) != 1) {
    return Opened::Bad;
  }
  // Padding, which no peer of ours adds, would end with another type.
  if (*end == kData) return Opened::Data;
  return *end == kAlert ? Opened::Closed : Opened::Bad;
}

}  // namespace isthmus::net

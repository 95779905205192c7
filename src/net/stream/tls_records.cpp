#include "net/stream/tls_records.hpp"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace isthmus::net {
namespace {

constexpr std::size_t kTag = Gcm::kTag;
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

TlsRecords::TlsRecords(Way way, const Secret& secret) : cipher_(make_gcm(way)), secret_(secret) {
  use_secret();
}

TlsRecords::~TlsRecords() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

void TlsRecords::use_secret() {
  Gcm::Key key{};
  expand(secret_, "tls13 key", key);
  expand(secret_, "tls13 iv", iv_);
  cipher_->use_key(key);
  OPENSSL_cleanse(key.data(), key.size());
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
  Gcm::Nonce nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[nonce.size() - 1 - i] ^= static_cast<unsigned char>(number_ >> (8 * i));
  }
  ++number_;
  return cipher_->begin(nonce, {head, kHead});
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
    good = good && cipher_->pass(part.iov_base, part.iov_len, to);
    to += part.iov_len;
  }
  return good && cipher_->pass(&type, 1, to) && cipher_->write_tag(to + 1);
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
  const std::byte* const tag = body.data() + body.size();
  const bool good = begin(record.data()) && cipher_->pass(body.data(), body.size(), body.data()) &&
                    cipher_->check_tag(tag);
  if (!good) return {};
  std::size_t size = body.size();  // the type follows the content, zeros the type
  while (size > 0 && body[size - 1] == std::byte{0}) --size;
  if (size == 0) return Opened{};
  return Opened{static_cast<Type>(body[size - 1]), body.first(size - 1)};
}

}  // namespace isthmus::net

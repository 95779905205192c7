#include "net/host/credentials.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <stdexcept>

namespace isthmus::net {

Digest random_nonce() {
  Digest nonce{};
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1) {
    throw std::runtime_error("OpenSSL has no random numbers on this host");
  }
  return nonce;
}

Digest mac(const Credentials& credentials, std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  const auto* result =
      HMAC(EVP_sha256(), credentials.secret.data(), static_cast<int>(credentials.secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  if (result == nullptr || size != digest.size()) {
    throw std::runtime_error("OpenSSL cannot compute HMAC-SHA256 on this host");
  }
  return digest;
}

Digest proof(const Credentials& credentials, std::string_view role, const Digest& client_nonce,
             const Digest& server_nonce) {
  std::string text = "isthmus/1 ";
  text += role;
  text += '\0';
  text += static_cast<char>(credentials.job.size());
  text += credentials.job;
  text.append(reinterpret_cast<const char*>(client_nonce.data()), client_nonce.size());
  text.append(reinterpret_cast<const char*>(server_nonce.data()), server_nonce.size());
  return mac(credentials, text);
}

bool equal(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace isthmus::net

#include "net/stream/tls.hpp"

#include <openssl/ssl.h>

#include <cstring>
#include <memory>
#include <stdexcept>

namespace isthmus::net {
namespace {

// The suite of a key binds its hash, so both sides use exactly one.
constexpr const char* kSuite = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char kSuiteId[2] = {0x13, 0x01};

struct Psk {
  std::string identity;
  Digest key{};
};

void free_psk(void*, void* psk, CRYPTO_EX_DATA*, int, long, void*) {
  auto* p = static_cast<Psk*>(psk);
  if (p != nullptr) OPENSSL_cleanse(p->key.data(), p->key.size());
  delete p;
}

int psk_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_psk);
  return index;
}

const Psk* psk_of(SSL* ssl) {
  return static_cast<const Psk*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), psk_index()));
}

SSL_SESSION* make_session(SSL* ssl, const Psk& psk) {
  std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session(SSL_SESSION_new(),
                                                                    SSL_SESSION_free);
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kSuiteId);
  if (!session || cipher == nullptr ||
      SSL_SESSION_set1_master_key(session.get(), psk.key.data(), psk.key.size()) != 1 ||
      SSL_SESSION_set_cipher(session.get(), cipher) != 1 ||
      SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) != 1) {
    return nullptr;
  }
  return session.release();
}

int use_session(SSL* ssl, const EVP_MD* md, const unsigned char** id, std::size_t* id_size,
                SSL_SESSION** session) {
  const Psk* psk = psk_of(ssl);
  *session = nullptr;
  if (psk == nullptr) return 0;
  // After a HelloRetryRequest, a hash other than ours can have no answer.
  if (md != nullptr && EVP_MD_get_type(md) != NID_sha256) return 1;
  *session = make_session(ssl, *psk);
  if (*session == nullptr) return 0;
  *id = reinterpret_cast<const unsigned char*>(psk->identity.data());
  *id_size = psk->identity.size();
  return 1;
}

int find_session(SSL* ssl, const unsigned char* id, std::size_t id_size, SSL_SESSION** session) {
  const Psk* psk = psk_of(ssl);
  *session = nullptr;
  if (psk == nullptr) return 0;
  const bool ours =
      id_size == psk->identity.size() && std::memcmp(id, psk->identity.data(), id_size) == 0;
  if (!ours) return 1;  // no session: the handshake finds nothing to go on with
  *session = make_session(ssl, *psk);
  return *session != nullptr ? 1 : 0;
}

}  // namespace

asio::ssl::context make_tls(bool server, const Credentials& credentials) {
  asio::ssl::context context(server ? asio::ssl::context::tlsv13_server
                                    : asio::ssl::context::tlsv13_client);
  SSL_CTX* ctx = context.native_handle();
  auto psk = std::make_unique<Psk>();
  psk->identity = credentials.job;
  psk->key = mac(credentials, "isthmus/1 tls psk");
  if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(ctx, kSuite) != 1 ||
      SSL_CTX_set_ex_data(ctx, psk_index(), psk.get()) != 1) {
    throw std::runtime_error(std::string("OpenSSL on this host lacks TLS 1.3 with ") + kSuite);
  }
  (void)psk.release();  // free_psk deletes it with the context
  SSL_CTX_set_num_tickets(ctx, 0);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  if (server) {
    SSL_CTX_set_psk_find_session_callback(ctx, find_session);
  } else {
    // Nobody has certificates. A server that offers one instead of the key is rejected.
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_psk_use_session_callback(ctx, use_session);
  }
  return context;
}

bool proved(SSL* ssl) { return SSL_session_reused(ssl) == 1; }

}  // namespace isthmus::net

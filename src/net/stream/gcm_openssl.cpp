#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "net/stream/gcm.hpp"

namespace isthmus::net {
namespace {

class OpenSslGcm final : public Gcm {
 public:
  explicit OpenSslGcm(Way way) : context_(EVP_CIPHER_CTX_new()) {
    const bool good = context_ && EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr,
                                                    nullptr, nullptr, static_cast<int>(way)) == 1;
    if (!good) throw std::bad_alloc();
  }

  void use_key(const Key& key) override {
    if (EVP_CipherInit_ex(context_.get(), nullptr, nullptr, key.data(), nullptr, -1) != 1) {
      throw std::bad_alloc();
    }
  }

  bool begin(const Nonce& nonce, std::span<const std::byte> head) override {
    return EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
           pass(head.data(), head.size(), nullptr);
  }

  bool pass(const void* from, std::size_t size, void* to) override {
    int done = 0;
    return size == 0 ||
           EVP_CipherUpdate(context_.get(), static_cast<unsigned char*>(to), &done,
                            static_cast<const unsigned char*>(from), static_cast<int>(size)) == 1;
  }

  bool write_tag(std::byte* to) override {
    int none = 0;
    return EVP_CipherFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(to), &none) == 1 &&
           EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTag, to) == 1;
  }

  bool check_tag(const std::byte* tag) override {
    std::array<unsigned char, kTag> copy;  // OpenSSL takes it without const
    std::memcpy(copy.data(), tag, copy.size());
    std::array<unsigned char, kTag> none;
    int done = 0;
    return EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTag, copy.data()) == 1 &&
           EVP_CipherFinal_ex(context_.get(), none.data(), &done) == 1;
  }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

}  // namespace

std::unique_ptr<Gcm> openssl_gcm(Gcm::Way way) { return std::make_unique<OpenSslGcm>(way); }

std::unique_ptr<Gcm> make_gcm(Gcm::Way way) {
  auto quick = ipsec_mb_gcm(way);
  return quick ? std::move(quick) : openssl_gcm(way);
}

}  // namespace isthmus::net

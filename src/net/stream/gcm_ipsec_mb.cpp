// libipsec-mb is opened at run time, so that Isthmus also runs where it is missing.

#include <dlfcn.h>
#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "net/stream/gcm.hpp"

namespace isthmus::net {
namespace {

constexpr const char* kLibrary = "libIPSec_MB.so.1";
static_assert(IMB_VERSION_NUM >= IMB_VERSION(1, 0, 0) && IMB_VERSION_NUM < IMB_VERSION(2, 0, 0),
              "kLibrary names another library than the header");

// Version 1.4 made the keys larger, and the library's name stayed.
bool is_of_the_header(unsigned version) { return version >> 8 == IMB_VERSION_NUM >> 8; }

// The library's functions for this processor.
struct Functions {
  aes_gcm_pre_t use_key;
  aes_gcm_init_t begin;
  std::array<aes_gcm_enc_dec_update_t, 2> pass;  // by Gcm::Way
  std::array<aes_gcm_enc_dec_finalize_t, 2> end;
};

class IpsecMbGcm final : public Gcm {
 public:
  IpsecMbGcm(const Functions& functions, Way way)
      : functions_(functions),
        pass_(functions.pass[static_cast<std::size_t>(way)]),
        end_(functions.end[static_cast<std::size_t>(way)]) {}
  ~IpsecMbGcm() override {
    OPENSSL_cleanse(&key_, sizeof key_);
    OPENSSL_cleanse(&record_, sizeof record_);
  }

  void use_key(const Key& key) override { functions_.use_key(key.data(), &key_); }

  bool begin(const Nonce& nonce, std::span<const std::byte> head) override {
    functions_.begin(&key_, &record_, nonce.data(),
                     reinterpret_cast<const std::uint8_t*>(head.data()), head.size());
    return true;
  }

  bool pass(const void* from, std::size_t size, void* to) override {
    pass_(&key_, &record_, static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from),
          size);
    return true;
  }

  bool write_tag(std::byte* to) override {
    end_(&key_, &record_, reinterpret_cast<std::uint8_t*>(to), kTag);
    return true;
  }

  bool check_tag(const std::byte* tag) override {
    std::array<std::uint8_t, kTag> own;
    end_(&key_, &record_, own.data(), own.size());
    return CRYPTO_memcmp(own.data(), tag, own.size()) == 0;
  }

 private:
  const Functions& functions_;
  const aes_gcm_enc_dec_update_t pass_;
  const aes_gcm_enc_dec_finalize_t end_;
  // The library stores whole vectors. Its header aligns only the key, and not for every compiler.
  alignas(64) gcm_key_data key_{};
  alignas(64) gcm_context_data record_{};
};

// Long enough for the loops over wide vectors.
using Known = std::array<std::byte, 2048>;

// Sealed in two parts.
Known known_record(Gcm& gcm) {
  Known record{};
  Gcm::Key key{};
  std::ranges::fill(key, static_cast<unsigned char>(0x5A));
  gcm.use_key(key);
  const auto body = std::span(record).first(record.size() - Gcm::kTag);
  const bool good = gcm.begin({1, 2, 3}, std::as_bytes(std::span("head"))) &&
                    gcm.pass(body.data(), 777, body.data()) &&
                    gcm.pass(body.data() + 777, body.size() - 777, body.data() + 777) &&
                    gcm.write_tag(body.data() + body.size());
  return good ? record : Known{};
}

// The same with `pass` and `end` of the other way.
bool opens(Gcm& gcm, Known record) {
  Gcm::Key key{};
  std::ranges::fill(key, static_cast<unsigned char>(0x5A));
  gcm.use_key(key);
  const auto body = std::span(record).first(record.size() - Gcm::kTag);
  return gcm.begin({1, 2, 3}, std::as_bytes(std::span("head"))) &&
         gcm.pass(body.data(), body.size(), body.data()) &&
         gcm.check_tag(body.data() + body.size()) &&
         std::ranges::all_of(body, [](std::byte byte) { return byte == std::byte{0}; });
}

std::optional<Functions> load() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  const auto make = reinterpret_cast<decltype(&::alloc_mb_mgr)>(::dlsym(library, "alloc_mb_mgr"));
  const auto init =
      reinterpret_cast<decltype(&::init_mb_mgr_auto)>(::dlsym(library, "init_mb_mgr_auto"));
  const auto free = reinterpret_cast<decltype(&::free_mb_mgr)>(::dlsym(library, "free_mb_mgr"));
  const auto version =
      reinterpret_cast<decltype(&::imb_get_version)>(::dlsym(library, "imb_get_version"));
  if (make == nullptr || init == nullptr || free == nullptr || version == nullptr) return {};
  if (!is_of_the_header(version())) return {};
  const std::unique_ptr<IMB_MGR, decltype(free)> manager(make(0), free);
  if (!manager) return {};
  init(manager.get(), nullptr);
  if ((manager->features & IMB_CPUFLAGS_SSE) != IMB_CPUFLAGS_SSE) return {};
  const Functions functions{
      .use_key = manager->gcm128_pre,
      .begin = manager->gcm128_init,
      .pass = {manager->gcm128_dec_update, manager->gcm128_enc_update},
      .end = {manager->gcm128_dec_finalize, manager->gcm128_enc_finalize},
  };
  IpsecMbGcm seals(functions, Gcm::Way::Seal), opening(functions, Gcm::Way::Open);
  const Known known = known_record(*openssl_gcm(Gcm::Way::Seal));
  if (known_record(seals) != known || !opens(opening, known)) return {};
  return functions;
}

}  // namespace

std::unique_ptr<Gcm> ipsec_mb_gcm(Gcm::Way way) {
  static const std::optional<Functions> functions = load();
  return functions ? std::make_unique<IpsecMbGcm>(*functions, way) : nullptr;
}

}  // namespace isthmus::net

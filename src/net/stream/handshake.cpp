#include "net/stream/handshake.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/ssl/error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <stdexcept>

#include "core/base/time_text.hpp"
#include "net/stream/plain_stream.hpp"
#include "net/stream/tls.hpp"
#include "net/stream/tls_stream.hpp"

namespace isthmus::net {
namespace {

constexpr std::string_view kMark = "ISTHMUS\n";
constexpr char kHandshakeVersion = 1;
constexpr std::size_t kOpening = kMark.size() + 2;  // mark, version, size of the job's name
constexpr unsigned char kTlsRecord = 0x16;          // first byte of a TLS handshake

enum Verdict : unsigned char {
  kGood = 0,
  kOtherJob = 1,
  kWrongSecret = 2,
  kMustEncrypt = 3,
  kOtherVersion = 4
};

[[noreturn]] void fail(const std::string& sentence) { throw Refusal(sentence); }

// Why reading or writing during a handshake did not work.
[[noreturn]] void broke(const Deadline& deadline, std::chrono::milliseconds limit,
                        const std::string& where, const std::error_code& error) {
  if (deadline.passed()) {
    throw std::runtime_error(where +
                             " accepted the connection but did not finish the handshake within " +
                             core::time_text(limit) +
                             " (it may be overloaded, stopped, out of file descriptors, or no "
                             "gateway of Isthmus)");
  }
  if (ended_by_peer(error)) {
    throw std::runtime_error(where + " closed the connection during the handshake");
  }
  throw std::runtime_error("the handshake with " + where + " failed: " + error.message());
}

std::string tls_failure(const std::string& where, const std::string& job,
                        const std::error_code& error) {
  return where + " does not know the secret of job \"" + job +
         "\", serves another job, or is not Isthmus (TLS: " + error.message() + ")";
}

asio::awaitable<void> plain_client(PlainStream& stream, const Credentials& credentials,
                                   const Deadline& deadline, std::chrono::milliseconds limit) {
  const std::string& where = stream.where();
  std::error_code error;
  const Digest nonce = random_nonce();
  std::string opening(kMark);
  opening += kHandshakeVersion;
  opening += static_cast<char>(credentials.job.size());
  opening += credentials.job;
  opening.append(reinterpret_cast<const char*>(nonce.data()), nonce.size());
  co_await asio::async_write(stream.socket(), asio::buffer(opening),
                             asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);

  std::array<unsigned char, 1 + 32> answer{};
  co_await asio::async_read(stream.socket(), asio::buffer(answer),
                            asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);
  if (answer[0] == kOtherJob) {
    throw WrongKey(where + " serves another job than \"" + credentials.job + "\"");
  }
  if (answer[0] == kMustEncrypt) throw MustEncrypt(where, "the [[link]]");
  if (answer[0] == kOtherVersion) {
    fail(where +
         " speaks another version of the handshake: install the same release of Isthmus "
         "on both");
  }
  if (answer[0] != kGood) {
    fail(where + " does not answer as Isthmus does: something else listens there");
  }
  Digest server_nonce{};
  std::copy_n(answer.begin() + 1, 32, server_nonce.begin());

  const Digest mine = proof(credentials, "client", nonce, server_nonce);
  co_await asio::async_write(stream.socket(), asio::buffer(mine),
                             asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);
  co_await asio::async_read(stream.socket(), asio::buffer(answer),
                            asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);
  Digest theirs{};
  std::copy_n(answer.begin() + 1, 32, theirs.begin());
  if (answer[0] == kWrongSecret) {
    throw WrongKey(where + " turned this process down: it does not know the secret of job \"" +
                   credentials.job + "\"");
  }
  if (answer[0] != kGood || !equal(theirs, proof(credentials, "server", nonce, server_nonce))) {
    throw WrongKey(where + " does not know the secret of job \"" + credentials.job + "\"");
  }
}

asio::awaitable<void> send_verdict(PlainStream& stream, Verdict verdict, const Digest& digest) {
  std::array<unsigned char, 1 + 32> answer{};
  answer[0] = verdict;
  if (verdict == kGood) std::copy(digest.begin(), digest.end(), answer.begin() + 1);
  std::error_code ignored;
  co_await asio::async_write(stream.socket(), asio::buffer(answer),
                             asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> plain_server(PlainStream& stream, const Credentials& credentials,
                                   bool accept_plain, const Deadline& deadline,
                                   std::chrono::milliseconds limit) {
  const std::string& where = stream.where();
  std::error_code error;
  std::array<char, kOpening> opening{};
  co_await asio::async_read(stream.socket(), asio::buffer(opening),
                            asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);
  if (std::string_view(opening.data(), kMark.size()) != kMark) {
    fail(where + " sent something that is not of Isthmus");
  }
  if (opening[kMark.size()] != kHandshakeVersion) {
    co_await send_verdict(stream, kOtherVersion, {});
    fail(where + " speaks version " + std::to_string(opening[kMark.size()]) +
         " of the handshake, this side version " + std::to_string(kHandshakeVersion) +
         ": install the same release of Isthmus on both");
  }
  const auto job_size = static_cast<unsigned char>(opening[kMark.size() + 1]);
  std::string rest(job_size + 32U, '\0');
  co_await asio::async_read(stream.socket(), asio::buffer(rest),
                            asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);
  if (!accept_plain) {
    co_await send_verdict(stream, kMustEncrypt, {});
    fail(where + " asked for an unencrypted connection, which is not allowed from other hosts");
  }
  if (rest.substr(0, job_size) != credentials.job) {
    co_await send_verdict(stream, kOtherJob, {});
    fail(where + " belongs to another job than \"" + credentials.job + "\"");
  }
  Digest client_nonce{};
  std::copy_n(rest.begin() + job_size, 32, client_nonce.begin());
  const Digest nonce = random_nonce();
  co_await send_verdict(stream, kGood, nonce);

  Digest theirs{};
  co_await asio::async_read(stream.socket(), asio::buffer(theirs),
                            asio::redirect_error(asio::use_awaitable, error));
  if (error) broke(deadline, limit, where, error);
  if (!equal(theirs, proof(credentials, "client", client_nonce, nonce))) {
    co_await send_verdict(stream, kWrongSecret, {});
    fail(where + " does not know the secret of job \"" + credentials.job + "\"");
  }
  co_await send_verdict(stream, kGood, proof(credentials, "server", client_nonce, nonce));
}

asio::awaitable<void> tls_handshake(TlsStream& stream, const Credentials& credentials,
                                    const Deadline& deadline, std::chrono::milliseconds limit) {
  const std::error_code error = co_await stream.handshake();
  if (error) {
    if (error.category() == tls_faults()) fail(stream.where() + ": " + error.message());
    const bool tls = error.category() == asio::error::get_ssl_category();
    if (tls && !deadline.passed()) fail(tls_failure(stream.where(), credentials.job, error));
    broke(deadline, limit, stream.where(), error);
  }
  if (!proved(stream.ssl())) {
    fail(stream.where() + " does not know the secret of job \"" + credentials.job + "\"");
  }
}

}  // namespace

asio::awaitable<std::shared_ptr<Stream>> authenticate_as_client(Socket socket,
                                                                Credentials credentials,
                                                                Protection protection,
                                                                std::string where,
                                                                std::chrono::milliseconds limit) {
  const auto executor = co_await asio::this_coro::executor;
  if (protection == Protection::Encrypted) {
    auto stream =
        std::make_shared<TlsStream>(std::move(socket), make_tls(false, credentials), false, where);
    const Deadline deadline(executor, limit, [stream] { stream->close(); });
    co_await tls_handshake(*stream, credentials, deadline, limit);
    co_return stream;
  }
  auto stream = std::make_shared<PlainStream>(std::move(socket), where);
  const Deadline deadline(executor, limit, [stream] { stream->close(); });
  co_await plain_client(*stream, credentials, deadline, limit);
  co_return stream;
}

asio::awaitable<std::shared_ptr<Stream>> authenticate_as_server(
    Socket socket, Credentials credentials, ServerPolicy policy, std::string where,
    std::shared_ptr<UnderWay> under_way) {
  const auto executor = co_await asio::this_coro::executor;
  auto stream = std::make_shared<PlainStream>(std::move(socket), where);
  if (under_way) under_way->goes_over(stream);
  unsigned char first = 0;
  {
    const Deadline deadline(executor, policy.limit, [stream] { stream->close(); });
    std::error_code error;
    co_await stream->socket().async_receive(asio::buffer(&first, 1),
                                            asio::socket_base::message_peek,
                                            asio::redirect_error(asio::use_awaitable, error));
    if (error) broke(deadline, policy.limit, where, error);
    if (first != kTlsRecord) {
      co_await plain_server(*stream, credentials, policy.accept_plain, deadline, policy.limit);
      co_return stream;
    }
  }
  auto tls = std::make_shared<TlsStream>(std::move(stream->socket()), make_tls(true, credentials),
                                         true, where);
  if (under_way) under_way->goes_over(tls);
  const Deadline deadline(executor, policy.limit, [tls] { tls->close(); });
  co_await tls_handshake(*tls, credentials, deadline, policy.limit);
  co_return tls;
}

std::uint64_t random_session() {
  std::uint64_t session = 0;
  while (session == 0) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&session), sizeof session) != 1) {
      throw std::runtime_error("OpenSSL has no random numbers on this host");
    }
  }
  return session;
}

}  // namespace isthmus::net

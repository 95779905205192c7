#include "net/stream/tls_stream.hpp"

#include <utility>

namespace isthmus::net {

TlsStream::TlsStream(Socket socket, asio::ssl::context context, bool server, std::string where,
                     std::uint64_t of_one_key)
    : Stream(std::move(socket), std::move(where)),
      handshake_(Stream::socket(), std::move(context), server),
      writer_(Stream::socket(), of_one_key),
      reader_(Stream::socket(), writer_) {}

asio::awaitable<std::error_code> TlsStream::handshake() {
  return handshake_.run(writer_.seals(), reader_.opens());
}

}  // namespace isthmus::net

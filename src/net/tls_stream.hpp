// A stream inside TLS.
#pragma once

#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>

#include "net/stream.hpp"
#include "net/tls.hpp"

namespace isthmus::net {

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, asio::ssl::context context, std::string where)
      : Stream(std::move(where)), context_(std::move(context)), ssl_(std::move(socket), context_) {}

  asio::ssl::stream<Socket>& ssl() { return ssl_; }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    ssl_.async_read_some(buffer, std::move(done));
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    asio::async_write(ssl_, buffers, std::move(done));
  }
  void close() override {
    std::error_code ignored;
    ssl_.lowest_layer().close(ignored);
  }

 private:
  asio::ssl::context context_;
  asio::ssl::stream<Socket> ssl_;
};

}  // namespace isthmus::net

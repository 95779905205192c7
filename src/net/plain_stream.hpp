// A stream whose bytes go over the socket as they are.
#pragma once

#include <asio/write.hpp>

#include "net/stream.hpp"

namespace isthmus::net {

class PlainStream final : public Stream {
 public:
  PlainStream(Socket socket, std::string where)
      : Stream(std::move(where)), socket_(std::move(socket)) {}

  Socket& socket() { return socket_; }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    socket_.async_read_some(buffer, std::move(done));
  }
  void write(const std::vector<asio::const_buffer>& buffers, Done done) override {
    asio::async_write(socket_, buffers, std::move(done));
  }
  void close() override {
    std::error_code ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

}  // namespace isthmus::net

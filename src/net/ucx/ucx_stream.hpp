// A stream whose bytes go by UCX, beside the authenticated connection by which the two ends have
// agreed on that. The connection says nothing more but, at the end, how many bytes there were: its
// own end is the end of the stream, after those.
#pragma once

#include <asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "net/stream/stream.hpp"
#include "net/ucx/pipe.hpp"

namespace isthmus::net::ucx {

class UcxStream final : public Stream {
 public:
  UcxStream(Socket socket, std::string where, std::unique_ptr<Pipe> pipe);
  ~UcxStream() override;

  Moved read(std::span<const iovec> into) override;
  Moved write(std::span<const iovec> from) override;
  void wait(Wait what, Ready ready) override;
  void close() override;
  Leg leg() const override { return Leg::Ucx; }
  bool exposed() const override { return true; }

 private:
  bool over() const;
  void look();
  void listen();
  void hear();

  Worker& worker_;
  std::unique_ptr<Pipe> pipe_;  // none: closed
  Ready readable_, writable_;   // under way
  bool listening_ = false;      // for the socket
  std::error_code ended_;       // the connection's end
  std::uint64_t last_ = 0;      // with `ended_`: bytes that are still to come are before this
  asio::steady_timer late_;     // they do not come
  bool told_end_ = false;       // a read has said so
};

}  // namespace isthmus::net::ucx

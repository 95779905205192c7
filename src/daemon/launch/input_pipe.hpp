// Standard input by a pipe: of the native launcher, or of a rank on this host.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "daemon/host/file_descriptor.hpp"
#include "daemon/launch/rank_input.hpp"

namespace isthmus::daemon {

class InputPipe : public RankInput {
 public:
  InputPipe(asio::io_context& context, FileDescriptor write_end);

  void write(const std::string& bytes) override;
  void close() override;
  std::size_t unwritten() const override { return queue_.size(); }

 private:
  void flush();

  asio::posix::stream_descriptor pipe_;
  std::string queue_;
  bool writing_ = false;
  bool closing_ = false;
};

}  // namespace isthmus::daemon

#include "daemon/launch/input_pipe.hpp"

#include <asio/buffer.hpp>
#include <asio/error.hpp>

namespace isthmus::daemon {

InputPipe::InputPipe(asio::io_context& context, FileDescriptor write_end)
    : pipe_(context, write_end.release()) {
  pipe_.non_blocking(true);
}

void InputPipe::write(const std::string& bytes) {
  if (!pipe_.is_open() || closing_) return;
  queue_ += bytes;
  flush();
}

void InputPipe::close() {
  closing_ = true;
  flush();
}

void InputPipe::flush() {
  if (writing_ || !pipe_.is_open()) return;
  if (queue_.empty()) {
    std::error_code ignored;
    if (closing_) pipe_.close(ignored);
    return;
  }
  writing_ = true;
  pipe_.async_wait(asio::posix::stream_descriptor::wait_write, [this](std::error_code error) {
    if (error == asio::error::operation_aborted) return;
    writing_ = false;
    std::size_t written = 0;
    if (!error) written = pipe_.write_some(asio::buffer(queue_), error);
    if (error && error != asio::error::would_block) {
      queue_.clear();  // nobody reads it any more
      pipe_.close(error);
    }
    queue_.erase(0, written);
    flush();
    if (on_written) on_written();
  });
}

}  // namespace isthmus::daemon

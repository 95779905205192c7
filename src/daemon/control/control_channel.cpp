#include "daemon/control/control_channel.hpp"

#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <utility>

namespace isthmus::daemon {

using asio::posix::stream_descriptor;

ControlChannel::ControlChannel(asio::io_context& context, int in, int out, Events events)
    : in_(context, in), out_(context, out), events_(std::move(events)) {
  out_.non_blocking(true);
  read();
}

void ControlChannel::read() {
  if (reading_ || closed_) return;
  reading_ = true;
  if (held_) {
    in_.async_wait(stream_descriptor::wait_error, [this](std::error_code error) {
      if (error == asio::error::operation_aborted && closed_) return;
      reading_ = false;
      if (held_ && !error) {
        close({});
      } else {
        read();  // released meanwhile
      }
    });
    return;
  }
  in_.async_read_some(asio::buffer(block_), [this](std::error_code error, std::size_t got) {
    if (error == asio::error::operation_aborted && closed_) return;
    reading_ = false;
    if (error == asio::error::operation_aborted) return read();  // held meanwhile
    if (error) return close({});
    received_ += got;
    decoder_.feed({block_.data(), got});
    explicit_bzero(block_.data(), got);  // there may be secrets among them
    dispatch();
    read();
  });
}

void ControlChannel::dispatch() {
  try {
    while (!held_ && !closed_) {
      auto message = decoder_.next();
      if (!message) return;
      events_.message(*message);
      message->wipe_secrets();
    }
  } catch (const ControlError& error) {
    close(error.what());
  }
}

void ControlChannel::hold(bool held) {
  if (held_ == held || closed_) return;
  held_ = held;
  if (held_) return;
  in_.cancel();  // the wait for the other end's closing
  asio::post(in_.get_executor(), [this] {
    dispatch();
    read();
  });
}

void ControlChannel::send(nlohmann::json body, std::string_view bytes) {
  if (dropped_ || !out_.is_open()) return;
  queue_ += encode(std::move(body), bytes);
  if (!full_ && queue_.size() - written_ > kHighWater) events_.congested(full_ = true);
  write();
}

void ControlChannel::write() {
  if (writing_ || queue_.empty()) return;
  writing_ = true;
  out_.async_wait(stream_descriptor::wait_write, [this](std::error_code error) {
    writing_ = false;
    if (dropped_ || error == asio::error::operation_aborted) return;
    if (!error) written_ += out_.write_some(asio::buffer(queue_) + written_, error);
    if (error && error != asio::error::would_block) {
      written_ = queue_.size();  // nobody reads: the same as the end of input
      close({});
    }
    if (written_ == queue_.size()) {
      queue_.clear();
      written_ = 0;
      if (std::exchange(full_, false)) events_.congested(false);
    } else if (written_ > kHighWater) {
      queue_.erase(0, std::exchange(written_, 0));
    }
    write();
  });
}

void ControlChannel::hang_up() {
  std::error_code ignored;
  out_.close(ignored);
  queue_.clear();
  written_ = 0;
  close({});
}

void ControlChannel::drop() {
  dropped_ = true;
  queue_.clear();
  written_ = 0;
  if (std::exchange(full_, false)) events_.congested(false);
}

void ControlChannel::close(const std::string& trouble) {
  if (std::exchange(closed_, true)) return;
  std::error_code ignored;
  in_.close(ignored);
  events_.closed(trouble);
}

}  // namespace isthmus::daemon

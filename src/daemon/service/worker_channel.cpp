#include "daemon/service/worker_channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/any_json.hpp"
#include "core/base/wipe.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::size_t kMostOfPacket = 65536;

struct Packet {
  std::string text;
  FileDescriptor descriptor;
};

// Empty text: the other end is gone. Nothing: none is there.
std::optional<Packet> receive(int socket) {
  Packet packet{std::string(kMostOfPacket, '\0'), {}};
  iovec part{packet.text.data(), packet.text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  packet.text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    packet.descriptor = FileDescriptor(descriptor);
  }
  return packet;
}

}  // namespace

struct WorkerChannel::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, FileDescriptor own, Heard h, std::function<void()> c)
      : socket(io, own.release()), heard(std::move(h)), closed(std::move(c)) {}

  asio::posix::stream_descriptor socket;
  Heard heard;
  std::function<void()> closed;

  void wait() {
    socket.async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const std::error_code& error) {
                        if (!error) self->take();
                      });
  }

  void take() {
    while (socket.is_open()) {
      auto packet = receive(socket.native_handle());
      if (!packet) return wait();
      auto message = nlohmann::json::parse(packet->text, nullptr, false);
      core::wipe(packet->text);    // there may be secrets in it
      if (!message.is_object()) {  // no more come
        std::error_code ignored;
        socket.close(ignored);
        if (closed) closed();
        return;
      }
      if (heard) heard(message, std::move(packet->descriptor));
      core::wipe_secrets(message);
    }
  }
};

WorkerChannel::WorkerChannel(asio::io_context& io, FileDescriptor socket, Heard heard,
                             std::function<void()> closed)
    : state_(std::make_shared<State>(io, std::move(socket), std::move(heard), std::move(closed))) {
  state_->wait();
}

WorkerChannel::~WorkerChannel() {
  state_->heard = nullptr;
  state_->closed = nullptr;
  std::error_code ignored;
  state_->socket.close(ignored);
}

bool WorkerChannel::send(const nlohmann::json& message, int descriptor) {
  if (!state_->socket.is_open()) return false;
  std::string text = message.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr packet{};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  if (descriptor >= 0) {
    packet.msg_control = control;
    packet.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  const bool sent = text.size() <= kMostOfPacket &&
                    ::sendmsg(state_->socket.native_handle(), &packet,
                              MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  core::wipe(text);  // there may be secrets in it
  return sent;
}

}  // namespace isthmus::daemon

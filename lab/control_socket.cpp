#include "lab/control_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace isthmus::lab {
namespace {

constexpr std::size_t kMaxLine = 65536;
constexpr std::size_t kMaxClients = 64;

}  // namespace

ControlSocket::ControlSocket(const std::string& path, Answer answer)
    : path_(path), answer_(std::move(answer)) {
  if (path_.empty()) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) {
    throw std::runtime_error("the control socket's path is too long: " + path_);
  }
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  listener_ = FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const mode_t before = umask(0177);
  const bool bound = listener_ && bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                                       sizeof address) == 0;
  const int error = errno;
  umask(before);
  if (!bound || listen(listener_.get(), SOMAXCONN) != 0) {
    throw std::runtime_error("cannot listen on " + path_ + ": " +
                             std::generic_category().message(bound ? errno : error));
  }
}

ControlSocket::~ControlSocket() {
  if (listener_) unlink(path_.c_str());
}

void ControlSocket::watch(std::vector<pollfd>& polled) const {
  if (listener_) polled.push_back({listener_.get(), POLLIN, 0});
  for (const Client& client : clients_) polled.push_back({client.socket.get(), POLLIN, 0});
}

void ControlSocket::serve() {
  if (!listener_) return;
  for (std::size_t newcomers = 0; newcomers < kMaxClients; ++newcomers) {
    FileDescriptor accepted(
        accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted) break;
    if (clients_.size() == kMaxClients) clients_.pop_front();
    clients_.push_back({std::move(accepted), {}});
  }
  clients_.remove_if([this](Client& client) { return !serve(client); });
}

// False: the client is gone, or has to go.
bool ControlSocket::serve(Client& client) const {
  char chunk[4096];
  for (;;) {
    const ssize_t n = recv(client.socket.get(), chunk, sizeof chunk, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    client.line.append(chunk, static_cast<std::size_t>(n));
    for (std::size_t end; (end = client.line.find('\n')) != std::string::npos;) {
      const std::string answer = answer_(client.line.substr(0, end)) + "\n";
      client.line.erase(0, end + 1);
      const ssize_t sent = send(client.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      if (sent != static_cast<ssize_t>(answer.size())) return false;
    }
    if (client.line.size() > kMaxLine) return false;
  }
}

}  // namespace isthmus::lab

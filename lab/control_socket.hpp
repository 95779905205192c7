// The box's control socket: a request is a line of JSON, and so is its answer.
#pragma once

#include <poll.h>

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "lab/file_descriptor.hpp"

namespace isthmus::lab {

class ControlSocket {
 public:
  using Answer = std::function<std::string(const std::string& line)>;

  /// Listens on a unix socket, readable and writable by its owner alone. An empty path: no socket.
  /// Throws std::runtime_error.
  ControlSocket(const std::string& path, Answer answer);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Appends the descriptors to poll.
  void watch(std::vector<pollfd>& polled) const;
  /// Takes new clients and answers lines that are complete. Never blocks. Disconnects the oldest
  /// client when there are too many, and clients that send too long a line or read no answer.
  void serve();

 private:
  struct Client {
    FileDescriptor socket;
    std::string line;
  };
  bool serve(Client& client) const;

  std::string path_;
  Answer answer_;
  FileDescriptor listener_;
  std::list<Client> clients_;
};

}  // namespace isthmus::lab

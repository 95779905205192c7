// Memory that two processes of one host share. One gives it to the other without a name, so nothing
// is left behind however they end.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace isthmus::net {

/// An open file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_ = -1;
};

/// Another process's memory of the kind that SharedMemory makes, by the number of its descriptor
/// there. Throws std::system_error if the system refuses it to this process, and
/// std::runtime_error if the descriptor is something else.
Descriptor descriptor_of(int process, int number);

/// A mapping, writable on both sides. It can neither shrink nor grow, so touching it is safe
/// whatever the other process does.
class SharedMemory {
 public:
  /// All zeros. Throws std::system_error.
  static SharedMemory make(std::size_t size);
  /// Takes memory that another process has made. Throws std::runtime_error with a sentence if it
  /// could shrink, or has fewer than `least` or more than `most` bytes.
  static SharedMemory take(Descriptor file, std::size_t least, std::size_t most);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  const Descriptor& file() const { return file_; }
  /// When it has been given to the other process; the memory stays.
  void close_file() { file_ = {}; }

 private:
  SharedMemory(Descriptor file, std::size_t size);

  Descriptor file_;
  std::span<std::byte> bytes_;
};

/// Sends a descriptor over a unix socket, with one byte. Throws std::system_error.
void send_descriptor(int socket, const Descriptor& file);
/// Empty if nothing has come yet (the socket does not block). Else a descriptor, or one without a
/// number if the byte came alone. Throws std::system_error, also if the other end has closed.
std::optional<Descriptor> receive_descriptor(int socket);

}  // namespace isthmus::net

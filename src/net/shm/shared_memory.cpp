#include "net/shm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace isthmus::net {
namespace {

[[noreturn]] void failed(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

constexpr const char* kName = "isthmus";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor descriptor_of(int process, int number) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  // Opening any other file might wait or have side effects.
  std::array<char, 64> found{};
  if (::readlink(path.c_str(), found.data(), found.size() - 1) < 0) failed("cannot look at memory");
  if (!std::string(found.data()).starts_with(std::string("/memfd:") + kName + " ")) {
    throw std::runtime_error("named what is not shared memory");
  }
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) failed("cannot open shared memory");
  return file;
}

SharedMemory::SharedMemory(Descriptor file, std::size_t size) : file_(std::move(file)) {
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (at == MAP_FAILED) failed("cannot map shared memory");
  bytes_ = {static_cast<std::byte*>(at), size};
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::move(other.file_)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

SharedMemory SharedMemory::make(std::size_t size) {
  // The kernel would send a signal to a process that exceeds its limit of file sizes.
  rlimit files{};
  if (::getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < size) {
    errno = EFBIG;
    failed("cannot make shared memory");
  }
  Descriptor file(::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.number() < 0) failed("cannot make shared memory");
  if (::ftruncate(file.number(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) {
    failed("cannot give shared memory a size");
  }
  return {std::move(file), size};
}

SharedMemory SharedMemory::take(Descriptor file, std::size_t least, std::size_t most) {
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) failed("cannot look at shared memory");
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    throw std::runtime_error("gave memory that it could take away again");
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size < least || size > most) {
    throw std::runtime_error("gave " + std::to_string(size) + " bytes of shared memory");
  }
  return {std::move(file), size};
}

void send_descriptor(int socket, const Descriptor& file) {
  char byte = 0;
  iovec part{&byte, 1};
  const int number = file.number();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof number)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof number);
  std::memcpy(CMSG_DATA(head), &number, sizeof number);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) != 1) failed("cannot give away shared memory");
}

std::optional<Descriptor> receive_descriptor(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));  // no room for a second, which would leak
  const ssize_t n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::nullopt;
  if (n == 0) errno = ECONNRESET;
  if (n <= 0) failed("no shared memory has come");
  Descriptor file;
  if (const cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    file = Descriptor(number);
  }
  return file;
}

}  // namespace isthmus::net

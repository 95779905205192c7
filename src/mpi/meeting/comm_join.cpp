// MPI_Comm_join: two processes that share a socket. They introduce themselves there. Processes of
// one run then exchange all that leaders exchange (mpi/making/sides.hpp); those of two runs, a
// port.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/own_order.hpp"
#include "mpi/making/sides.hpp"
#include "mpi/meeting/launcher.hpp"
#include "mpi/meeting/port.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Each end's first message: the name of its job, padded with zeros.
constexpr std::size_t kIntroduction = 128;
constexpr std::string_view kGreeting = "isthmus ";
constexpr std::size_t kPortText = 256;
constexpr std::int32_t kMostWords = 1024;

void fail(const char* what) {
  throw MpiError(MPI_ERR_OTHER,
                 std::string("the socket could not be ") + what + ": " + std::strerror(errno));
}

void write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("written");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void read_all(int fd, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read");
    if (got == 0) throw MpiError(MPI_ERR_OTHER, "the other end has closed the socket");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::optional<Words> exchange(int fd, const Words& words) {
  const auto number = core::as_little_endian(static_cast<std::int32_t>(words.size()));
  const Words crossing = core::as_little_endian(words);
  write_all(fd, std::as_bytes(std::span(&number, 1)));
  write_all(fd, std::as_bytes(std::span(crossing)));
  std::int32_t coming = 0;
  read_all(fd, std::as_writable_bytes(std::span(&coming, 1)));
  core::little_endian(coming);
  require(coming >= 0 && coming <= kMostWords, MPI_ERR_OTHER, "the socket speaks of other things");
  Words theirs(static_cast<std::size_t>(coming));
  read_all(fd, std::as_writable_bytes(std::span(theirs)));
  core::little_endian(theirs);
  return theirs;
}

/// Sends the other end a short text, and returns the text from there.
std::string swap_texts(int fd, std::string mine, std::size_t most) {
  mine.resize(most);
  write_all(fd, std::as_bytes(std::span(mine)));
  std::string theirs(most, '\0');
  read_all(fd, std::as_writable_bytes(std::span(theirs)));
  theirs.resize(std::min(theirs.size(), theirs.find('\0')));
  return theirs;
}

/// The job of the other end; empty if that is not in a grid.
std::string job_there(int fd) {
  const std::string theirs = swap_texts(fd, std::string(kGreeting) + grid()->job, kIntroduction);
  return theirs.starts_with(kGreeting) ? theirs.substr(kGreeting.size()) : std::string();
}

/// Joins with a process of another run, at a port that only these two know.
int join_runs(int fd, const std::string& theirs, MPI_Comm* intercomm) {
  if (grid()->job < theirs) {
    const std::string port = text_of(ask_launcher({{"do", "open"}}), "port");
    swap_texts(fd, port, kPortText);
    const int code = meet_at_port(
        At::Accept, [&] { return PortCall{port}; }, 0, MPI_COMM_SELF, intercomm);
    ask_launcher({{"do", "close"}, {"port", port}});
    return code;
  }
  const std::string port = swap_texts(fd, "", kPortText);
  return meet_at_port(
      At::Connect, [&] { return PortCall{port}; }, 0, MPI_COMM_SELF, intercomm);
}

}  // namespace

// coverage: between processes of one run or of several; MPI_COMM_NULL between others
ISTHMUS_MPI(Comm_join)(int fd, MPI_Comm* intercomm) {
  if (native_call() || intercomm == nullptr) return native.Comm_join(fd, intercomm);
  return shielded(MPI_COMM_NULL, "MPI_Comm_join", [&]() -> int {
    *intercomm = MPI_COMM_NULL;
    const std::string theirs = job_there(fd);
    if (theirs.empty()) return MPI_SUCCESS;
    if (theirs != grid()->job) return join_runs(fd, theirs, intercomm);
    const Side side{MPI_COMM_SELF, 0, true,
                    [fd](const Words& words) { return exchange(fd, words); }};
    return join_sides(side, meet_remote(side), intercomm);
  });
}

}  // namespace isthmus::face

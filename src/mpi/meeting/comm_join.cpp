// MPI_Comm_join: two processes that share a socket. They tell each other there who they are, and
// all that leaders tell (mpi/making/sides.hpp).
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "mpi/making/sides.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// What each end says first: whose job it is of, padded with zeros.
constexpr std::size_t kIntroduction = 128;
constexpr std::int32_t kMostWords = 1024;

void fail(const char* what) {
  throw coll::Failure(MPI_ERR_OTHER,
                      std::string("the socket could not be ") + what + ": " + std::strerror(errno));
}

void write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
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
    if (got == 0) throw coll::Failure(MPI_ERR_OTHER, "the other end has closed the socket");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::optional<Words> exchange(int fd, const Words& words) {
  const auto number = static_cast<std::int32_t>(words.size());
  write_all(fd, std::as_bytes(std::span(&number, 1)));
  write_all(fd, std::as_bytes(std::span(words)));
  std::int32_t coming = 0;
  read_all(fd, std::as_writable_bytes(std::span(&coming, 1)));
  require(coming >= 0 && coming <= kMostWords, MPI_ERR_OTHER, "the socket speaks of other things");
  Words theirs(static_cast<std::size_t>(coming));
  read_all(fd, std::as_writable_bytes(std::span(theirs)));
  return theirs;
}

/// Whether the other end is a process of this grid.
bool of_this_grid(int fd) {
  std::string mine = "isthmus " + grid()->job;
  mine.resize(kIntroduction);
  write_all(fd, std::as_bytes(std::span(mine)));
  std::string theirs(kIntroduction, '\0');
  read_all(fd, std::as_writable_bytes(std::span(theirs)));
  return theirs == mine;
}

}  // namespace

// coverage: between processes of one grid, in any clusters; MPI_COMM_NULL between others
ISTHMUS_MPI(Comm_join)(int fd, MPI_Comm* intercomm) {
  if (depth != 0 || grid() == nullptr || intercomm == nullptr) {
    return native.Comm_join(fd, intercomm);
  }
  return shielded(MPI_COMM_SELF, "MPI_Comm_join", [&]() -> int {
    *intercomm = MPI_COMM_NULL;
    if (!of_this_grid(fd)) return MPI_SUCCESS;
    const Side side{MPI_COMM_SELF, 0, true,
                    [fd](const Words& words) { return exchange(fd, words); }};
    return join_sides(side, meet_remote(side), intercomm);
  });
}

}  // namespace isthmus::face

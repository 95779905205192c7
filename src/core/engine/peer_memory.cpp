#include "core/engine/peer_memory.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/base/mark.hpp"

namespace isthmus::core {
namespace {

// The most pieces of one call; the system takes 1024.
constexpr std::size_t kPieces = 512;

/// Returns the bytes moved. Both sides have as many bytes.
ssize_t once(bool read, pid_t pid, const iovec& here, const iovec* there, std::size_t pieces) {
  return read ? process_vm_readv(pid, &here, 1, there, pieces, 0)
              : process_vm_writev(pid, &here, 1, there, pieces, 0);
}

void* address_of(std::uint64_t base, std::int64_t offset) {
  return reinterpret_cast<void*>(base + static_cast<std::uint64_t>(offset));
}

}  // namespace

PeerMemory::Address PeerMemory::of_this_process(const void* base) {
  static const Mark mark = new_mark();
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // if Yama allows it to descendants alone
#endif
  return {.pid = getpid(),
          .base = reinterpret_cast<std::uint64_t>(base),
          .mark_at = reinterpret_cast<std::uint64_t>(&mark),
          .mark = {mark[0], mark[1]}};
}

std::optional<PeerMemory> PeerMemory::reach(const Address& address) {
  PeerMemory peer(address);
  return peer.there() ? std::optional(peer) : std::nullopt;
}

bool PeerMemory::there() const {
  Mark found{};
  Address at = address_;
  at.base = address_.mark_at;
  return address_.pid > 0 && PeerMemory(at).read(0, std::as_writable_bytes(std::span(found))) &&
         std::equal(found.begin(), found.end(), std::begin(address_.mark));
}

bool PeerMemory::move(Way way, std::int64_t displacement, std::byte* here, std::size_t size) const {
  for (std::size_t at = 0; at < size;) {
    const iovec mine{here + at, size - at};
    const iovec theirs{address_of(address_.base, displacement + static_cast<std::int64_t>(at)),
                       size - at};
    const ssize_t n = once(way == Way::Read, static_cast<pid_t>(address_.pid), mine, &theirs, 1);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool PeerMemory::move(Way way, std::int64_t displacement, TypeCursor& there, std::byte* here,
                      std::size_t size) const {
  std::array<iovec, kPieces> theirs;
  for (std::size_t at = 0; at < size;) {
    std::size_t pieces = 0, bytes = 0;
    while (pieces < kPieces && at + bytes < size) {
      const Piece piece = there.next(static_cast<std::int64_t>(size - at - bytes));
      if (piece.length <= 0) break;
      theirs[pieces++] = {address_of(address_.base, displacement + piece.offset),
                          static_cast<std::size_t>(piece.length)};
      bytes += static_cast<std::size_t>(piece.length);
    }
    if (bytes == 0) return false;
    const iovec mine{here + at, bytes};
    const ssize_t n =
        once(way == Way::Read, static_cast<pid_t>(address_.pid), mine, theirs.data(), pieces);
    if (n < 0) return false;
    // Only a part was moved: moves the rest one by one, to find the failure.
    for (std::size_t i = 0, done = static_cast<std::size_t>(n), before = 0; i < pieces; ++i) {
      const std::size_t length = theirs[i].iov_len;
      if (before + length > done) {
        const std::size_t skip = done > before ? done - before : 0;
        const auto offset = static_cast<std::int64_t>(
            reinterpret_cast<std::uint64_t>(theirs[i].iov_base) - address_.base + skip);
        if (!move(way, offset, here + at + before + skip, length - skip)) return false;
      }
      before += length;
    }
    at += bytes;
  }
  return true;
}

bool PeerMemory::write(std::int64_t displacement, std::span<const std::byte> from) const {
  return move(Way::Write, displacement, const_cast<std::byte*>(from.data()), from.size());
}
bool PeerMemory::write(std::int64_t displacement, TypeCursor to,
                       std::span<const std::byte> from) const {
  return move(Way::Write, displacement, to, const_cast<std::byte*>(from.data()), from.size());
}
bool PeerMemory::read(std::int64_t displacement, std::span<std::byte> to) const {
  return move(Way::Read, displacement, to.data(), to.size());
}
bool PeerMemory::read(std::int64_t displacement, TypeCursor from, std::span<std::byte> to) const {
  return move(Way::Read, displacement, from, to.data(), to.size());
}

}  // namespace isthmus::core

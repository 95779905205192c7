#include "net/ucx/pipe.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "net/ucx/worker.hpp"

namespace isthmus::net::ucx {
namespace {

// Of one message. Each costs UCX about the same, and the other end reads while the next comes.
constexpr std::size_t kMostInMessage = std::size_t{32} << 10;
constexpr std::size_t kMostWindow = std::size_t{4} << 20;  // that another end may offer

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

std::size_t total(std::span<const iovec> parts) {
  std::size_t sum = 0;
  for (const iovec& part : parts) sum += part.iov_len;
  return sum;
}

}  // namespace

Pipe::Pipe(Worker& worker) : worker_(worker), inbox_(worker.window()) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(mine_.data()), sizeof mine_) != 1) {
    throw std::runtime_error("OpenSSL has no random numbers on this host");
  }
  worker_.add(*this);
}

Pipe::~Pipe() {
  worker_.remove(*this);
  for (Chunk* const chunk : under_way_) chunk->owner = nullptr;
  if (wire_ != nullptr) worker_.retire(wire_);
}

Card Pipe::card() const {
  const auto address = worker_.address();
  return {mine_,
          static_cast<std::uint32_t>(inbox_.window()),
          worker_.version(),
          {address.begin(), address.end()}};
}

// UCX ends the process where two versions of it choose different ways (1.13 and 1.20).
void Pipe::connect(const Card& peer) {
  if (peer.version != worker_.version()) {
    throw std::runtime_error("UCX is " + version_text(worker_.version()) +
                             " in one of the two processes and " + version_text(peer.version) +
                             " in the other (an MPI may bring its own): they must be alike");
  }
  theirs_ = peer.key;
  window_ = limit_ = std::min<std::size_t>(peer.window, kMostWindow);
  wire_ = worker_.connect(*this, peer.address);
  telling_ = true;
  send(std::make_unique<Chunk>());
}

std::size_t Pipe::read(std::span<const iovec> into) {
  const std::size_t moved = inbox_.read(into);
  tell_read();
  return moved;
}

// Soon enough that the other end need not wait, and not for each message.
void Pipe::tell_read() {
  const std::uint64_t untold = inbox_.read_so_far() - told_read_;
  if (telling_ || untold < inbox_.window() / 4 || wire_ == nullptr || !broken_.empty()) return;
  telling_ = true;
  send(std::make_unique<Chunk>());
}

std::size_t Pipe::write(std::span<const iovec> from) {
  std::size_t moved = 0, skip = 0;
  while (broken_.empty()) {
    while (!from.empty() && skip == from.front().iov_len) {
      from = from.subspan(1);
      skip = 0;
    }
    const std::size_t size = std::min<std::uint64_t>(
        {from.empty() ? 0 : total(from) - skip, limit_ - sent_, kMostInMessage});
    if (size == 0) break;
    auto chunk = std::make_unique<Chunk>();
    chunk->bytes.reserve(size);
    while (chunk->bytes.size() < size) {
      const iovec& part = from.front();
      const auto* const bytes = static_cast<const std::byte*>(part.iov_base) + skip;
      const std::size_t n = std::min(part.iov_len - skip, size - chunk->bytes.size());
      chunk->bytes.insert(chunk->bytes.end(), bytes, bytes + n);
      skip += n;
      if (skip < part.iov_len) break;
      from = from.subspan(1);
      skip = 0;
    }
    moved += size;
    send(std::move(chunk));
  }
  return moved;
}

void Pipe::send(std::unique_ptr<Chunk> chunk) {
  chunk->owner = this;
  chunk->head = {theirs_, sent_, inbox_.read_so_far()};
  sent_ += chunk->bytes.size();
  told_read_ = inbox_.read_so_far();
  const bool tells_only = chunk->bytes.empty();
  Chunk* const sent = chunk.get();
  if (worker_.send(*wire_, chunk)) {
    under_way_.push_back(sent);
  } else if (tells_only) {
    telling_ = false;
  }
}

void Pipe::done(Chunk& chunk, ucs_status_t status) {
  std::erase(under_way_, &chunk);
  if (chunk.bytes.empty()) {
    telling_ = false;
    tell_read();
  }
  if (status != UCS_OK) fail(worker_.ucx().status_string(status));
}

void Pipe::arrived(const Head& head, std::span<const std::byte> bytes) {
  heard_ = true;
  if (head.read > sent_ || !inbox_.put(head.at, bytes)) {
    fail("the other end breaks the rules of this leg");
    return;
  }
  limit_ = std::max(limit_, head.read + window_);
  worker_.has_news(*this);
}

void Pipe::fail(const std::string& why) {
  if (broken_.empty()) broken_ = why;
  worker_.has_news(*this);
}

}  // namespace isthmus::net::ucx

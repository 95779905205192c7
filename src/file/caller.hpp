// One process's requests to the file service of another: calls, which wait for their reply, and
// accesses. The pieces of an access are under way together, within a window that all accesses
// share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/mutex.hpp"
#include "file/protocol.hpp"

namespace isthmus::file {

/// The most bytes that the requests under way read or write. 10 Gbit/s carry 16 MiB in 13 ms. A
/// service may have to keep them for each remote process.
inline constexpr std::size_t kMostUnderWay = std::size_t{1} << 24;
/// The most that a service keeps for all far processes together, except for one request of each.
inline constexpr std::size_t kMostServed = std::size_t{1} << 28;
/// The most that each of `processes` may have under way at one service.
constexpr std::size_t window_among(std::size_t processes) {
  return std::min(kMostUnderWay, kMostServed / std::max(processes, std::size_t{1}));
}
inline constexpr std::size_t kMostRequests = 1024;

/// An access under way. Its memory belongs to it until it is done; memory that is written, until it
/// is sent.
class Exchange {
 public:
  bool sent() const { return sent_.load(std::memory_order_acquire); }
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// After done(). Bytes that were there; throws the first Error.
  std::size_t result() const;
  bool failed() const { return error_ != 0; }

 private:
  friend class Caller;
  Op op_ = Op::Read;
  std::uint64_t file_ = 0;
  std::int64_t position_ = 0;
  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<void> keeps_;  ///< owns the memory, if the program does not
  std::size_t asked_ = 0, pieces_ = 0, got_ = 0;
  int error_ = 0;
  std::string sentence_;
  std::atomic<bool> sent_{false}, done_{false};
};
using ExchangeRef = std::shared_ptr<Exchange>;

class Caller {
 public:
  using Send = std::function<void(std::vector<std::byte> message)>;
  /// Runs its argument in a place where messages can be sent, and none is taken meanwhile.
  using Enter = std::function<void(const std::function<void(const Send&)>& body)>;
  explicit Caller(Enter enter, std::size_t window = kMostUnderWay)
      : enter_(std::move(enter)), window_(window) {}

  /// Any thread. Waits for the reply; throws its error. Does not wait for accesses that were begun
  /// before.
  std::int64_t call(const Request& request);
  /// Any thread. Accesses send their requests in the order in which they were begun, and the
  /// service handles them in that order.
  ExchangeRef read(std::uint64_t file, std::int64_t position, std::span<std::byte> to,
                   std::shared_ptr<void> keeps = nullptr);
  ExchangeRef write(std::uint64_t file, std::int64_t position, std::span<const std::byte> from);
  void wait(const Exchange& exchange);
  /// Sends no further requests; the access ends with those under way.
  void cancel(const ExchangeRef& exchange);
  /// The service has failed, for good: calls and accesses under way end with this error, and so do
  /// later ones. Any thread.
  void lose(int error, const std::string& sentence);
  /// Takes a reply, in a place where messages can be sent, as in Enter. False: it answers no
  /// request.
  bool take(std::span<const std::byte> message, const Send& send);

 private:
  struct Piece {
    ExchangeRef exchange;
    std::size_t at = 0, length = 0;
  };
  struct Call {
    bool done = false;
    int error = 0;
    std::int64_t value = 0;
    std::string sentence;
  };
  void begin(const ExchangeRef& exchange);
  bool ask(const Send& send);
  void take_piece(const Piece& piece, const Reply& reply);
  void end(Exchange& exchange);
  void fail(Exchange& exchange);

  const Enter enter_;
  const std::size_t window_;
  // Within Enter.
  std::uint64_t last_ = 0;
  std::size_t under_way_ = 0;
  std::map<std::uint64_t, Piece> pieces_;
  std::map<std::uint64_t, Call*> calls_;
  std::deque<ExchangeRef> waiting_;  // have pieces to ask for
  int lost_ = 0;                     // the error of all that begins after lose()
  std::string why_lost_;
  // For waiting threads.
  core::Mutex mutex_;
  core::Condition come_;
};

}  // namespace isthmus::file

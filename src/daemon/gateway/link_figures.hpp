// The measurements of a link, over all its TCP streams, and the number of streams that they ask
// for. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "core/conduit/conduit.hpp"
#include "core/streams/stream_count.hpp"
#include "net/host/tcp_figures.hpp"

namespace isthmus::daemon {

class LinkFigures {
 public:
  /// What is open now. Figures of a stream only grow, from zeros.
  struct Now {
    std::map<core::StreamId, net::TcpFigures> streams;
    int have = 0;              ///< streams, those without figures too
    bool begins_anew = false;  ///< some stream starts with a small window after a pause
    double ceiling = 0;        ///< bytes that one stream can have under way at most
  };

  /// The grid file's, in bytes a second.
  void set_rate(std::uint64_t rate) { given_ = rate; }
  /// A period of `length` seconds has ended. Returns the number of streams to have; no more than
  /// there are: it has enough.
  int take(Now now, double length);
  /// Other streams come, whose figures begin at zero.
  void forget_streams() { last_.clear(); }

  double rate() const { return given_ > 0 ? static_cast<double>(given_) : best_rate_; }
  std::chrono::microseconds rtt() const { return rtt_; }
  std::chrono::microseconds min_rtt() const { return min_rtt_; }
  double best_rate() const { return best_rate_; }       ///< bytes/s delivered, in one period
  std::uint64_t repeated() const { return repeated_; }  ///< bytes, ever

 private:
  core::LinkPeriod add(const std::map<core::StreamId, net::TcpFigures>& now, double length);

  std::map<core::StreamId, net::TcpFigures> last_;
  core::StreamCount count_;
  std::uint64_t given_ = 0;
  std::chrono::microseconds rtt_{}, min_rtt_{};
  double best_rate_ = 0;
  std::uint64_t repeated_ = 0;
};

}  // namespace isthmus::daemon

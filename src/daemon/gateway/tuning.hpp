// A gateway measures its links, paces its traffic under their rate, and asks for more streams where
// they help.
#pragma once

#include <array>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compress/frame_compressor.hpp"
#include "core/base/sampling.hpp"
#include "daemon/gateway/common.hpp"
#include "daemon/gateway/link_figures.hpp"
#include "daemon/gateway/sharing.hpp"
#include "net/conduit/pacer.hpp"

namespace isthmus::daemon {

/// The part that opens streams of links.
class StreamOpener {
 public:
  /// A link needs this number of streams. False: the other end opens this link. True: this end
  /// begins to open the missing ones, unless the grid file sets the number. Does not block, throw
  /// or call back.
  virtual bool want_streams(core::NodeId to, int streams) = 0;

 protected:
  ~StreamOpener() = default;
};

/// On the gateway's thread.
class Tuning {
 public:
  Tuning(Common& gateway, Sharing& sharing);

  /// Before there are links. The opener stays as long as this.
  void open_by(StreamOpener& opener) { opener_ = &opener; }
  /// A conduit for the link is to be made, the first or another. Returns its compressor.
  std::shared_ptr<core::Compressor> begin(core::NodeId node);

  /// The grid file's settings of a link; each may be empty. They are ignored if the conduit is
  /// closed. If the kernel refuses the congestion control, that is logged, and the link works.
  void use(Peer& link, std::uint64_t rate, const std::string& congestion, bool compress);
  /// The other end's word about the link between us.
  void learn(Peer& link, const net::control::Link& body);

  /// Something may have moved over a peer's conduit: while a link is not at rest its samples tell.
  void stir(Peer& peer);
  /// Looks at the links when there is something to see. That is a period after something moved,
  /// after a claim on a rate, or when a neighbour has been silent for too long.
  void plan();
  std::vector<LinkCount> counts() const;
  /// Looks at nothing any more.
  void close() { timer_.cancel(); }

 private:
  /// Counts of a link: messages, bytes, waiting bytes, and streams.
  using Counts = std::array<std::uint64_t, 4>;
  struct Measured {
    LinkFigures figures;
    Counts seen{};    // at the end of the last period
    Counts traced{};  // as last noted
    core::Sampling sampling{net::now()};
    std::shared_ptr<net::Pacer> pacer;  // null: its rate is unknown
    std::shared_ptr<compress::FrameCompressor> compressor;
  };

  static bool stands(const Peer& peer);
  static Counts counts_of(const Peer& peer);
  void set_rate(Peer& link, std::uint64_t rate);
  void look();
  void sample(Peer& link, Measured& measured);
  void count_streams(Peer& link, Measured& measured, double length);
  void note_counts(const Peer& link, Measured& measured) const;

  Common& gateway_;
  Sharing& sharing_;
  StreamOpener* opener_ = nullptr;
  std::map<core::NodeId, Measured> measured_;
  asio::steady_timer timer_;
  core::Time look_at_ = core::Time::max();  // when the timer ends; max: it does not run
};

}  // namespace isthmus::daemon

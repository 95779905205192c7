// Drives a core::Conduit over real streams: reads, writes, timers. All on one io_context thread.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/debug_off.hpp"
#include "core/conduit/conduit.hpp"
#include "core/streams/crowd.hpp"
#include "core/streams/stream_plan.hpp"
#include "net/conduit/conduit_user.hpp"
#include "net/conduit/pacer.hpp"
#include "net/host/full_packets.hpp"
#include "net/host/tcp_figures.hpp"
#include "net/stream/stream.hpp"
#include "net/waiting/socket_look.hpp"

namespace isthmus::net {

core::Time now();

class ConduitDriver final : public std::enable_shared_from_this<ConduitDriver>,
                            private SocketLook,
                            private core::StreamPlan::Look {
 public:
  /// Who uses the frames.
  enum class For : std::uint8_t {
    Program,  ///< a process. Large frames go where `place` says, and its threads look for news
    Gateway,  ///< passes large frames on, which come in memory of their own
    Report,   ///< nobody: it sends alone
  };

  /// The user stays until the driver is closed.
  ConduitDriver(asio::io_context& io, core::ConduitConfig config, For what, ConduitUser& user);
  ~ConduitDriver();

  core::Conduit& conduit() { return conduit_; }
  const core::Conduit& conduit() const { return conduit_; }

  /// Takes an authenticated stream; `read` are bytes already read from it.
  void attach(std::shared_ptr<Stream> stream, std::span<const std::byte> read = {});
  /// As attach, when the peer says that all its streams before this one are gone.
  void replace(std::shared_ptr<Stream> stream, std::span<const std::byte> read);
  /// Writes what can be written. Call after submit(), forward(), consume() and bye().
  void flush();
  /// Frames with payloads that are borrowed (core::Conduit::submit_borrowed) cost a copy less.
  bool borrows() const;
  /// The number of bytes of bulk that it writes together.
  std::size_t batch() const;
  /// Copies what is still borrowed and has not been acknowledged: looks what has, and reads what
  /// else has come.
  void own();
  /// Reads what has come on all streams. Not from a slot of a ConduitUser: one is being read.
  void read_come();
  /// Full-sized packets do not pass: further streams need small segments, which the end sets that
  /// connects.
  bool wants_small_segments() const { return full_packets_.fail(); }
  /// Closes all streams. The user is not called any more.
  void close();
  bool closed() const { return closed_; }
  std::size_t streams() const { return lines_.size(); }
  /// A frame that has come in part is being read to its place.
  bool lands() const;
  /// Some stream goes by that.
  bool goes_by(Stream::Leg leg) const;
  /// No stream goes another way; true without streams.
  bool goes_only_by(Stream::Leg leg) const;
  /// The kernel's figures of each TCP stream.
  std::map<core::StreamId, TcpFigures> figures() const;
  /// The kernel's congestion control of TCP streams, now and later. Empty: the default. Returns the
  /// kernel's error for the streams that are open.
  std::error_code set_congestion(const std::string& name);
  /// Some stream's kernel lets it begin again after a pause.
  bool begins_anew() const;
  /// The pacer bounds the rate of all streams together, with those of other drivers that share it.
  /// Small frames do not wait for it.
  void pace_by(std::shared_ptr<Pacer> pacer) {
    if (!core::off(core::Mechanism::Pacing)) pacer_ = std::move(pacer);
  }
  /// Others share the path over which the streams are: bulk goes by as few as the crowd has it.
  void join(std::shared_ptr<core::Crowd> crowd) { crowd_ = std::move(crowd); }
  /// The pacer's word: bulk may go on.
  void take_turn();

 private:
  struct Line;
  using LinePtr = std::shared_ptr<Line>;

  void read(const LinePtr& line, bool again = false);
  std::optional<Stream::Wait> read_once(const LinePtr& line);
  void look_at(const LinePtr& line);
  void read_now(const LinePtr& line);
  void go_on(const LinePtr& line);
  bool look() override;
  bool read_news() override;
  void write_all();
  void write(const LinePtr& line);
  bool write_batch(const LinePtr& line, std::size_t limit, bool with_room = false);
  core::StreamPlan::Role role(const LinePtr& line) const;
  bool off_bulk(const LinePtr& line) const;
  std::size_t number(const LinePtr& line) const;
  void choose();
  double window(std::size_t stream) const override;
  std::int64_t room(std::size_t stream) const override;
  void write_in_turns();
  void write_where_room();
  bool write_counted(const LinePtr& line, std::size_t limit, std::int64_t& room);
  void write_packets(const LinePtr& line);
  void write_some(const LinePtr& line, std::span<const iovec> parts);
  iovec landing(const LinePtr& line);
  void land(const LinePtr& line);
  void follow(const LinePtr& line, const core::Conduit::Sink& sink, core::Conduit::Input& result);
  void watch_for_more(const LinePtr& line, std::size_t bytes);
  void took(const LinePtr& line, std::size_t bytes);
  void drop(const LinePtr& line, const Loss& loss, bool silent = false);
  void judge(const LinePtr& line, bool silent);
  void arm();
  void share_unsent();
  void report();

  asio::io_context& io_;
  core::Conduit conduit_;
  const For for_;
  ConduitUser& user_;
  std::vector<LinePtr> lines_;
  std::size_t turn_ = 0;                // of lines_, whose turn it is
  std::size_t small_ = 0;               // which took the last small frames
  std::shared_ptr<core::Crowd> crowd_;  // null: all streams take bulk
  core::Crowd::Sender in_crowd_;
  core::StreamPlan plan_;
  FullPackets full_packets_;
  std::string congestion_;
  std::shared_ptr<Pacer> pacer_;        // null: as the network takes it
  std::vector<core::PacketPtr> taken_;  // write()'s own, kept for its memory
  asio::steady_timer timer_;
  std::optional<core::Time> armed_;
  bool closed_ = false;
  bool has_read_ = false;  // since read_news() began
  bool told_ended_ = false;
};

}  // namespace isthmus::net

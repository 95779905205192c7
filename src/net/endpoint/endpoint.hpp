// A process's end of the Isthmus network: conduits to the cluster's gateways, and a core::Engine
// whose frames they carry. One I/O thread drives them, whatever the program does; it never calls
// MPI and never runs the program's code. A thread of the program that sends or waits does that work
// itself, since every wake-up of another thread costs more than the work (io_turn.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/wipe.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/gathering.hpp"
#include "core/world/world.hpp"
#include "net/control/control_body.hpp"
#include "net/endpoint/growing_send.hpp"

namespace isthmus::net {

/// Facts that the endpoint knows: the messages that its process waits for, and its traffic without
/// gateways by cluster.
struct Sight {
  std::span<const core::Awaited> awaited;
  std::map<std::size_t, DirectCount> direct;
};

/// EndpointConfig::lend_from of a process that lends nothing.
inline constexpr std::size_t kLendNothing = std::numeric_limits<std::size_t>::max();

/// A change of a cluster while a process runs. It has joined as a spare one, has left, or its
/// processes have failed.
enum class ClusterChange : std::uint8_t { Joined = 0, Left = 1, Failed = 2 };

/// All a process needs to join. The face reads it from what the agent set in the environment.
struct EndpointConfig {
  core::World world;
  int node = -1;        ///< of this process
  std::string job;      ///< identifies the job in messages and handshakes
  core::Secret secret;  ///< the job's, raw bytes
  std::string ports{};  ///< "FIRST-LAST", at which it may listen for others; empty: any
  bool memory = true;   ///< shared with gateways on this host, where it can be had
  /// Receivers on this host read messages of at least this size from this process's memory, if the
  /// system allows it. If empty, the size from which that is quicker.
  std::optional<std::size_t> lend_from{};
  /// Says, as JSON of at most 4000 bytes, where this process is in the program and what it waits
  /// for. On whichever thread has the I/O's turn: never calls MPI or this endpoint. May be empty.
  std::function<std::string(const Sight&)> whereabouts{};
  /// Told that another run is not there any more. Whether the program still needs it: that is a
  /// fault. As `whereabouts`. May be empty.
  std::function<bool(const std::string& run)> needs{};
  /// The run goes on without clusters that fail (isthmus run --survive). The loss of a way or a
  /// conduit to another cluster is then not a fault. Its frames wait until the way is back, or the
  /// launcher says that the cluster has failed. Memory is never lent.
  bool survives = false;
  /// Told that a cluster (an index of the world's) has failed; then the engine's operations with it
  /// end. On the I/O thread, or a thread in a wait or a send: no MPI, no blocking, no call
  /// of this endpoint. `message`: why, a sentence. May be empty.
  std::function<void(std::size_t cluster, const std::string& message)> failed{};
  /// Told what happens to clusters, by name, and to failed ones, too. Called as `failed` is.
  std::function<void(ClusterChange change, const std::string& cluster, const std::string& message)>
      changed{};
};

class Endpoint {
 public:
  /// Called once, when the grid can no longer work: no way to a cluster is left, another rank
  /// aborted or vanished, or the protocol was broken. It runs on the I/O thread, or on a thread in
  /// wait_event, poll or a send. `sentence` says what happened and where. `code` is the exit status
  /// that the process should have.
  using FaultHandler = std::function<void(const std::string& sentence, int code)>;

  /// Connects to the gateways of this process's cluster, and returns when every rank of the grid
  /// has joined, however late. To limit this, end the gateway. Throws std::runtime_error with a
  /// sentence that names the address and the remedy.
  static std::unique_ptr<Endpoint> join(EndpointConfig config, FaultHandler on_fault);

  /// As `leave` without its barrier: closes at once.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Thread-safe forms of the engine's functions (same contracts). They wake the I/O thread where
  // there is something to send.
  /// `soon`: the calling thread calls poll(), wait_event() or send_gathered() next; then nobody is
  /// woken for what has been gathered.
  void send(core::SendOp& op, bool soon = false);
  /// The first `ready` bytes are there. On any thread, also one of a driver of GPUs: takes no lock
  /// of the engine. The I/O thread, or one that waits, tells the engine.
  void extend(const std::shared_ptr<GrowingSend>& send, std::size_t ready);
  /// Tells the engine of all that is there. Afterwards nothing uses `send.op`.
  void end_growth(GrowingSend& send);
  /// Ends it so that no more comes (core::Engine::spoil).
  void spoil(GrowingSend& send, std::string_view why);
  /// Sends the gathered messages, on the calling thread unless another thread does so already.
  void send_gathered();
  void recv(core::RecvOp& op);
  bool cancel(core::RecvOp& op);
  /// Only with EndpointConfig::survives: else frames under way may use the memory.
  void give_up(core::SendOp& op);
  void give_up(core::RecvOp& op);
  bool withhold(core::RecvOp& op);
  void release(core::RecvOp& op, bool served);
  std::optional<core::Envelope> probe(std::uint64_t context, int source, int tag) const;
  std::shared_ptr<core::Extracted> extract(std::uint64_t context, int source, int tag);
  void recv(const std::shared_ptr<core::Extracted>& message, core::RecvOp& op);

  /// Runs `f(engine)` while nothing else can touch the engine: arrivals wait. For decisions that
  /// must be atomic with matching.
  template <class F>
  auto locked(F&& f) {
    const Locked lock(*this);
    return std::forward<F>(f)(engine_);
  }

  /// At most `most` of the messages that this process waits for.
  std::vector<core::Awaited> awaited(std::size_t most) const;

  /// Changes whenever something completed or arrived. Lock-free.
  std::uint32_t events() const { return events_.load(std::memory_order_acquire); }
  /// Moves what can be moved now, on the calling thread. Never blocks.
  void poll() const;
  /// Sleeps until events() differs from `seen` or `limit` has passed; moves what arrives, on the
  /// calling thread unless another is at it. May return early.
  void wait_event(std::uint32_t seen, std::chrono::microseconds limit) const;

  /// For tests: all direct conduits die.
  void drop_direct();
  /// Frames that were sent again since their way was lost.
  std::uint64_t sent_again() const;

  /// The world as it is by now. A version stays as it is; the next is another.
  std::shared_ptr<const core::World> world() const;

  /// Asks the launcher something (docs/control.md, "What ranks ask"): JSON of at most kMostAsked
  /// bytes. Returns the number of the question. Thread-safe, as answer().
  std::uint64_t ask(const std::string& request);
  /// The answer to that question, JSON, once; nothing while it has not come.
  std::optional<std::string> answer(std::uint64_t number);

  /// MPI_Abort: tells the whole grid, best effort, within a bounded time (at most 1 s).
  void abort(int code, const std::string& sentence);

  /// Orderly end (MPI_Finalize): flushes what is unsent and unacknowledged, says goodbye and
  /// joins the I/O thread. Call it after a barrier over the grid. It waits for as long as conduits
  /// and links have patience; throws std::runtime_error when one of them is lost.
  void leave();

 private:
  explicit Endpoint(EndpointConfig config, FaultHandler on_fault);

  // Holds the engine for a while; then tells the I/O thread and those who wait what is new.
  class Locked {
   public:
    explicit Locked(Endpoint& endpoint) : endpoint_(endpoint) { endpoint_.mutex_.lock(); }
    ~Locked() { endpoint_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    Endpoint& endpoint_;
  };
  void unlock();
  void flush();
  bool send_at_once(core::SendOp& op);
  void waits() const;
  void wake();
  void publish();

  struct Io;
  class Gate;
  class Pump;
  mutable std::mutex mutex_;  // guards engine_
  core::Engine engine_;
  core::Gathering gathering_;               // guarded by mutex_
  const std::vector<bool> beside_;          // peers, by node
  mutable std::atomic<bool> waited_{true};  // for messages, since the last flush
  std::atomic<bool> output_{false};         // the engine has something for pump()
  std::uint32_t answers_ = 0;               // guarded by mutex_; growths and ends of runs, too
  mutable std::atomic<std::uint32_t> events_{0};
  mutable std::atomic<std::uint32_t> waiters_{0};  // in wait_event
  std::unique_ptr<Io> io_;
};

}  // namespace isthmus::net

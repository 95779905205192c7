#include "net/endpoint/endpoint.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <stdexcept>

#include "core/base/debug_off.hpp"
#include "core/world/limits.hpp"
#include "net/endpoint/endpoint_io.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 &&
              std::atomic<std::uint32_t>::is_always_lock_free);

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                std::chrono::microseconds limit) {
  timespec time{};
  time.tv_sec = limit.count() / 1'000'000;
  time.tv_nsec = limit.count() % 1'000'000 * 1000;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, &time,
            nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, 0x7FFFFFFF,
            nullptr, nullptr, 0);
}

/// For each node, whether rings lead to it. Empty if they lead to none.
std::vector<bool> peers_beside(const core::World& world, int self) {
  std::vector<bool> beside;
  if (self < 0 || self >= world.size()) return beside;  // refused by who joins
  const std::size_t mine = world.cluster_of(self);
  for (const core::Direct& link : world.direct) {
    if (!link.shm || (link.a != mine && link.b != mine)) continue;
    beside.resize(static_cast<std::size_t>(world.size()));
    const core::Cluster& cluster = world.clusters[link.a == mine ? link.b : link.a];
    std::fill_n(beside.begin() + cluster.first, cluster.size, true);
  }
  return beside;
}

}  // namespace

Endpoint::Endpoint(EndpointConfig config, FaultHandler on_fault)
    : engine_(static_cast<core::NodeId>(config.node), core::limits_for(config.world)),
      beside_(peers_beside(config.world, config.node)),
      io_(std::make_unique<Io>(*this, std::move(config), std::move(on_fault))) {}

std::unique_ptr<Endpoint> Endpoint::join(EndpointConfig config, FaultHandler on_fault) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint(std::move(config), std::move(on_fault)));
  Io& io = *endpoint->io_;
  io.start();
  std::unique_lock lock(io.mutex);
  io.changed.wait(lock, [&io] { return io.phase != Io::Phase::Joining; });
  if (io.phase == Io::Phase::Joined) return endpoint;
  const std::string sentence = io.failure;
  lock.unlock();
  throw std::runtime_error(sentence);
}

Endpoint::~Endpoint() {
  if (io_->pid != 0 && io_->pid != ::getpid()) {
    // The child of a fork has no I/O thread, and must not touch what that thread held.
    (void)io_.release();
    return;
  }
  io_->stop();
}

// ---- the engine -------------------------------------------------------------------------------

void Endpoint::publish() {
  output_.store(engine_.has_output() || engine_.has_readings(), std::memory_order_relaxed);
  const auto events = static_cast<std::uint32_t>(engine_.events()) + answers_;
  if (events_.load(std::memory_order_relaxed) == events) return;
  events_.store(events, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) != 0) futex_wake_all(events_);
}

void Endpoint::unlock() {
  const bool reads = engine_.has_readings();
  publish();
  const bool output = output_.load(std::memory_order_relaxed);
  mutex_.unlock();
  if (output) flush();
  if (reads) io_->turn.call();  // the program may compute meanwhile
}

// Moves frames, on this thread if no other is at it.
void Endpoint::flush() {
  if (io_->turn.try_take()) {
    io_->pump.run();
    io_->turn.give();
  } else {
    wake();
  }
}

void Endpoint::wake() {
  if (io_->woken.exchange(true)) return;
  asio::post(io_->io, [io = io_.get()] {
    io->woken.store(false);
    io->pump.run();
  });
}

// The first message since the program has waited does without a batch and its two locks.
bool Endpoint::send_at_once(core::SendOp& op) {
  if (op.data.size() > core::kExpressBody || !waited_.load(std::memory_order_relaxed) ||
      !io_->turn.try_take()) {
    return false;
  }
  const bool sent = io_->pump.send_at_once(op);
  io_->turn.give();
  return sent;
}

void Endpoint::send(core::SendOp& op, bool soon) {
  if (send_at_once(op)) return;
  using Then = core::Gathering::Then;
  std::unique_lock lock(mutex_);
  const bool gathered = engine_.send(op);
  const bool waited = waited_.load(std::memory_order_relaxed);
  const Then then = gathered && !core::off(core::Mechanism::Gathering)
                        ? gathering_.added(waited ? core::Time() : now(), engine_.gathered(),
                                           waited, op.peer < beside_.size() && beside_[op.peer])
                        : Then::Flush;
  if (then == Then::Flush) {
    lock.release();
    return unlock();
  }
  publish();
  lock.unlock();
  if (then == Then::Wait || (soon && io_->turn.is_free())) return;
  wake();
  io_->turn.call();
}

void Endpoint::extend(const std::shared_ptr<GrowingSend>& send, std::size_t ready) {
  send->ready.store(ready, std::memory_order_release);
  if (send->posted.exchange(true)) return;
  asio::post(io_->io, [io = io_.get(), send] { io->extend(*send); });
  io_->turn.call();
}

void Endpoint::end_growth(GrowingSend& send) {
  locked([&](core::Engine& engine) {
    if (send.op != nullptr) engine.extend(*send.op, send.ready.load());
    send.op = nullptr;
  });
}

void Endpoint::spoil(GrowingSend& send, std::string_view why) {
  locked([&](core::Engine& engine) {
    if (send.op != nullptr) engine.spoil(*send.op, why);
    send.op = nullptr;
  });
}

void Endpoint::send_gathered() {
  if (output_.load(std::memory_order_relaxed)) flush();
}

// Gathered messages leave before the calling thread waits or looks for messages.
void Endpoint::waits() const {
  if (waited_.load(std::memory_order_relaxed)) return;
  waited_.store(true, std::memory_order_relaxed);
  io_->pump.run();
}

void Endpoint::recv(core::RecvOp& op) {
  locked([&](core::Engine& engine) { engine.recv(op); });
}

bool Endpoint::cancel(core::RecvOp& op) {
  return locked([&](core::Engine& engine) { return engine.cancel(op); });
}

void Endpoint::give_up(core::SendOp& op) {
  locked([&](core::Engine& engine) { engine.give_up(op); });
}

void Endpoint::give_up(core::RecvOp& op) {
  locked([&](core::Engine& engine) { engine.give_up(op); });
}

bool Endpoint::withhold(core::RecvOp& op) {
  return locked([&](core::Engine& engine) { return engine.withhold(op); });
}

void Endpoint::release(core::RecvOp& op, bool served) {
  locked([&](core::Engine& engine) { engine.release(op, served); });
}

std::optional<core::Envelope> Endpoint::probe(std::uint64_t context, int source, int tag) const {
  std::lock_guard lock(mutex_);
  return engine_.probe(context, source, tag);
}

std::shared_ptr<core::Extracted> Endpoint::extract(std::uint64_t context, int source, int tag) {
  return locked([&](core::Engine& engine) { return engine.extract(context, source, tag); });
}

void Endpoint::recv(const std::shared_ptr<core::Extracted>& message, core::RecvOp& op) {
  locked([&](core::Engine& engine) { engine.recv(message, op); });
}

std::vector<core::Awaited> Endpoint::awaited(std::size_t most) const {
  const std::lock_guard lock(mutex_);
  return engine_.awaited(most);
}

void Endpoint::poll() const {
  if (!io_->turn.take_or_ask()) return;
  waits();
  io_->turn.look();
  waited_.store(true, std::memory_order_relaxed);
  io_->turn.give();
}

void Endpoint::wait_event(std::uint32_t seen, std::chrono::microseconds limit) const {
  if (events() != seen) return;
  if (io_->turn.take_or_ask()) {
    waits();
    io_->drive(seen, limit);
    waited_.store(true, std::memory_order_relaxed);
    io_->turn.give();
    return;
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  if (events_.load(std::memory_order_seq_cst) == seen) futex_wait(events_, seen, limit);
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

// ---- the end ----------------------------------------------------------------------------------

void Endpoint::drop_direct() {
  asio::post(io_->io, [io = io_.get()] { io->direct->fail("was dropped"); });
}

std::uint64_t Endpoint::sent_again() const { return io_->sent_again.load(); }

std::shared_ptr<const core::World> Endpoint::world() const {
  const std::lock_guard lock(io_->mutex);
  return io_->world;
}

std::uint64_t Endpoint::ask(const std::string& request) {
  const control::Ask question = io_->questions.add(request);
  asio::post(io_->io, [io = io_.get(), question] { io->ask(question); });
  return question.number;
}

std::optional<std::string> Endpoint::answer(std::uint64_t number) {
  return io_->questions.answer(number);
}

void Endpoint::abort(int code, const std::string& sentence) {
  if (io_->pid != ::getpid()) return;
  const auto node = static_cast<core::NodeId>(io_->config.node);
  const control::Abort body{io_->config.world.rank_of(node), code, sentence};
  if (io_->turn.mine()) {
    io_->say(body);
    return;
  }
  std::unique_lock lock(io_->mutex);
  asio::post(io_->io, [io = io_.get(), body] {
    io->say(body);
    io->saying = true;
    io->ends.store(true, std::memory_order_relaxed);
    io->progress();
  });
  io_->changed.wait_for(lock, 1s, [this] { return io_->said; });
}

void Endpoint::leave() {
  if (io_->pid != ::getpid()) return;
  {
    std::unique_lock lock(io_->mutex);
    if (io_->phase == Io::Phase::Joined) io_->phase = Io::Phase::Leaving;
    io_->ends.store(true, std::memory_order_relaxed);
    if (io_->phase == Io::Phase::Leaving) {
      asio::post(io_->io, [io = io_.get()] { io->progress(); });
      io_->changed.wait(lock, [this] { return io_->phase != Io::Phase::Leaving; });
    }
    if (io_->phase == Io::Phase::Failed) throw std::runtime_error(io_->failure);
  }
  io_->stop();
}

}  // namespace isthmus::net

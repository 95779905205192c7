#include "net/ucx/worker.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace isthmus::net::ucx {
namespace {

constexpr unsigned kMessage = 0x15;  // the number of our kind of active message, within the worker
// The bytes that may wait unread: of one pipe, of all together, and of each if there are many.
constexpr std::size_t kWindow = std::size_t{512} << 10, kAllWindows = std::size_t{64} << 20,
                      kLeastWindow = std::size_t{64} << 10;
constexpr unsigned kSteps = 64;  // of UCX, before others on this thread have their turn
constexpr unsigned kTries = 8;   // to sleep
// UCX cannot sleep while it waits for room in a queue of shared memory: it is looked after in
// pauses that grow while nothing moves.
constexpr std::chrono::microseconds kPause{20}, kMostPause{1000};
constexpr std::chrono::milliseconds kLinger{1000}, kLastLinger{300};

// The threads that UCX may start take no signals of the program's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Worker::Worker(asio::execution_context& context)
    : service(context),
      io_(static_cast<asio::io_context&>(context)),
      watch_(asio::use_service<Watch>(context)),
      events_(io_),
      nap_(io_) {}

Worker::~Worker() = default;

Worker& Worker::of(asio::io_context& io) {
  auto& worker = asio::use_service<Worker>(io);
  if (worker.worker_ == nullptr) worker.open();
  return worker;
}

void Worker::open() {
  if (over_) throw std::runtime_error("the process is ending");
  if (!trouble_.empty()) throw std::runtime_error(trouble_);
  const NoSignals none;
  const auto need = [this](ucs_status_t status, const char* what, const std::string& said = {}) {
    if (status == UCS_OK) return;
    trouble_ =
        std::string("UCX cannot be used on this host: ") + what + ": " +
        ucx_->status_string(status) +
        (said.empty() ? "; variables UCX_... or ISTHMUS_UCX_... of its environment may be why"
                      : " (it says: " + said + ")");
    if (worker_ != nullptr) ucx_->worker_destroy(std::exchange(worker_, nullptr));
    if (context_ != nullptr) ucx_->cleanup(std::exchange(context_, nullptr));
    throw std::runtime_error(trouble_);
  };
  try {
    ucx_ = &Library::open();
  } catch (const std::runtime_error& error) {
    trouble_ = error.what();
    throw;
  }
  ucp_config_t* config = nullptr;
  {
    const Heard heard(*ucx_);
    const ucs_status_t read = ucx_->config_read("ISTHMUS", nullptr, &config);
    need(read, "its configuration", heard.first());
  }
  // Shared memory reports peers that are gone only on request. The program's memory is not
  // registered, so its kind need not be remembered.
  for (const auto& [key, value] : {std::pair{"MM_ERROR_HANDLING", "y"}, {"MEMTYPE_CACHE", "n"}}) {
    static_cast<void>(ucx_->config_modify(config, key, value));
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.name = "isthmus";
  {
    const Heard heard(*ucx_);
    const ucs_status_t begun =
        ucx_->init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
    ucx_->config_release(config);
    need(begun, "its transports", heard.first());
  }
  ucp_worker_params_t of_worker{};
  of_worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS;
  of_worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  of_worker.events = UCP_WAKEUP_RX | UCP_WAKEUP_TX;
  {
    const Quiet quiet(*ucx_);  // a key of transports that are not in use is worth a warning to it
    need(ucx_->worker_create(context_, &of_worker, &worker_), "a worker");
  }
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessage;
  handler.cb = &Worker::arrived;
  handler.arg = this;
  need(ucx_->worker_set_am_recv_handler(worker_, &handler), "active messages");
  int descriptor = -1;
  need(ucx_->worker_get_efd(worker_, &descriptor), "sleeping until something comes");
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  need(ucx_->worker_get_address(worker_, &address, &size), "an address");
  const auto* const bytes = reinterpret_cast<const std::byte*>(address);
  address_.assign(bytes, bytes + size);
  ucx_->worker_release_address(worker_, address);
  unsigned major = 0, minor = 0, release = 0;
  ucx_->get_version(&major, &minor, &release);
  version_ = major << 16 | minor;
  events_.assign(::dup(descriptor));
  watch_.add(*this);
}

std::size_t Worker::window() const {
  return std::clamp(kAllWindows / (pipes_.size() + 1), kLeastWindow, kWindow);
}

// ---- pipes --------------------------------------------------------------------------------------

void Worker::add(Pipe& pipe) { pipes_[pipe.key()] = &pipe; }

void Worker::remove(Pipe& pipe) {
  pipes_.erase(pipe.key());
  std::replace(news_.begin(), news_.end(), &pipe, static_cast<Pipe*>(nullptr));
}

void Worker::has_news(Pipe& pipe) {
  if (!std::exchange(pipe.told, true)) news_.push_back(&pipe);
  if (!watch_.awake() && !looking_) settle_soon();
}

Wire* Worker::connect(Pipe& pipe, std::span<const std::byte> address) {
  auto wire = std::make_unique<Wire>();
  wire->owner = &pipe;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &Worker::failed;
  params.err_handler.arg = wire.get();
  const NoSignals none;
  const Quiet quiet(*ucx_);
  const ucs_status_t status = ucx_->ep_create(worker_, &params, &wire->ep);
  if (status != UCS_OK) {
    throw std::runtime_error(std::string("UCX finds no way from one end to the other: ") +
                             ucx_->status_string(status) +
                             " (UCX_TLS and UCX_NET_DEVICES choose what it uses)");
  }
  settle_soon();  // this may have brought new transports
  wires_.push_back(std::move(wire));
  return wires_.back().get();
}

bool Worker::send(Wire& wire, std::unique_ptr<Chunk>& chunk) {
  if (over_) return false;
  chunk->worker = this;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.cb.send = &Worker::sent;
  param.user_data = chunk.get();
  void* const request = ucx_->am_send_nbx(wire.ep, kMessage, &chunk->head, sizeof chunk->head,
                                          chunk->bytes.data(), chunk->bytes.size(), &param);
  if (request == nullptr) return false;
  if (UCS_PTR_IS_ERR(request)) {
    chunk->owner->fail(ucx_->status_string(UCS_PTR_STATUS(request)));
    return false;
  }
  static_cast<void>(chunk.release());  // `sent` has it now
  ++under_way_;
  settle_soon();
  return true;
}

void Worker::sent(void* request, ucs_status_t status, void* of) {
  const std::unique_ptr<Chunk> chunk(static_cast<Chunk*>(of));
  --chunk->worker->under_way_;
  if (chunk->owner != nullptr) chunk->owner->done(*chunk, status);
  Library::open().request_free(request);
}

void Worker::failed(void* of, ucp_ep_h, ucs_status_t status) {
  const auto* const wire = static_cast<Wire*>(of);
  if (wire->owner != nullptr) wire->owner->fail(Library::open().status_string(status));
}

ucs_status_t Worker::arrived(void* of, const void* header, std::size_t header_size, void* data,
                             std::size_t size, const ucp_am_recv_param_t* param) {
  auto& worker = *static_cast<Worker*>(of);
  Head head;
  if (header_size != sizeof head) return UCS_OK;
  std::memcpy(&head, header, sizeof head);
  const auto found = worker.pipes_.find(head.key);
  if (found == worker.pipes_.end()) return UCS_OK;  // a stranger's, or of a pipe that has ended
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    found->second->fail("the other end breaks the rules of this leg");
    return UCS_OK;
  }
  found->second->arrived(head, {static_cast<const std::byte*>(data), size});
  return UCS_OK;
}

// ---- the end of an endpoint ---------------------------------------------------------------------

void Worker::retire(Wire* wire) {
  wire->owner = nullptr;
  if (over_) return;
  const ucp_request_param_t param{};
  void* const request = ucx_->ep_flush_nbx(wire->ep, &param);
  retired_.push_back({wire, request, false, std::chrono::steady_clock::now() + kLinger});
  settle_soon();
}

// True: its endpoint is no more.
bool Worker::end(Retired& retired) {
  const auto pending = [&] {
    if (retired.request == nullptr || UCS_PTR_IS_ERR(retired.request)) return false;
    if (ucx_->request_check_status(retired.request) == UCS_INPROGRESS) return true;
    ucx_->request_free(std::exchange(retired.request, nullptr));
    return false;
  };
  if (!retired.closing) {
    const bool late = std::chrono::steady_clock::now() >= retired.limit;
    if (pending() && !late) return false;
    if (retired.request != nullptr && !UCS_PTR_IS_ERR(retired.request)) {
      ucx_->request_free(retired.request);  // it ends with the endpoint
    }
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    retired.request = ucx_->ep_close_nbx(retired.wire->ep, &param);
    retired.closing = true;
  }
  return !pending();
}

void Worker::end_retired() {
  std::erase_if(retired_, [this](Retired& retired) {
    if (!end(retired)) return false;
    if (over_) return true;  // pipes may still name their wires
    std::erase_if(wires_, [&](const auto& wire) { return wire.get() == retired.wire; });
    return true;
  });
}

void Worker::shutdown() {
  if (std::exchange(over_, true) || worker_ == nullptr) return;
  std::error_code ignored;
  events_.close(ignored);
  nap_.cancel();
  watch_.remove(*this);
  for (const auto& [key, pipe] : std::exchange(pipes_, {})) pipe->fail("the process is ending");
  const auto limit = std::chrono::steady_clock::now() + kLastLinger;
  for (const auto& wire : wires_) {
    wire->owner = nullptr;
    if (std::none_of(retired_.begin(), retired_.end(),
                     [&](const Retired& other) { return other.wire == wire.get(); })) {
      retired_.push_back({wire.get(), nullptr, false, limit});
    }
  }
  for (Retired& retired : retired_) retired.limit = std::min(retired.limit, limit);
  while (!retired_.empty() && std::chrono::steady_clock::now() < limit + kLastLinger) {
    ucx_->worker_progress(worker_);
    end_retired();
  }
  ucx_->worker_destroy(std::exchange(worker_, nullptr));
  ucx_->cleanup(std::exchange(context_, nullptr));
}

// ---- looking and sleeping -----------------------------------------------------------------------

// Reports the arrivals. True: something moved.
bool Worker::advance() {
  if (std::exchange(looking_, true)) return false;
  bool moved = false;
  for (unsigned step = 0; step < kSteps && ucx_->worker_progress(worker_) != 0; ++step) {
    moved = true;
  }
  if (!retired_.empty()) end_retired();
  for (std::size_t i = 0; i < news_.size(); ++i) {
    Pipe* const pipe = std::exchange(news_[i], nullptr);
    if (pipe == nullptr) continue;
    pipe->told = false;
    moved = true;
    const auto news = pipe->news;  // which may end the pipe
    if (news) news();
  }
  news_.clear();
  looking_ = false;
  return moved;
}

bool Worker::look() {
  const bool moved = advance();
  if (!watch_.awake() && !armed_) settle_soon();
  return moved;
}

bool Worker::ready() const { return !armed_ || !news_.empty(); }

void Worker::asleep(bool is) {
  armed_ = false;
  if (is && arm()) listen();
}

bool Worker::arm() {
  armed_ = ucx_->worker_arm(worker_) == UCS_OK;
  return armed_;
}

void Worker::settle_soon() {
  armed_ = false;
  if (over_ || watch_.awake() || std::exchange(settling_, true)) return;
  asio::post(io_, [this] {
    settling_ = false;
    settle();
  });
}

// For a thread that does not poll: moves what it can, until UCX may sleep or needs another look
// later.
void Worker::settle() {
  if (over_ || watch_.awake()) return;
  bool moved = false;
  for (unsigned i = 0; i < kTries; ++i) {
    moved = advance() || moved;
    if (over_ || watch_.awake()) return;
    if (moved) pause_ = kPause;
    if (arm() && news_.empty()) return listen();
  }
  if (moved) return settle_soon();
  nap();
}

void Worker::nap() {
  if (std::exchange(napping_, true)) return;
  pause_ = std::clamp(pause_, kPause, kMostPause);
  nap_.expires_after(pause_);
  pause_ *= 2;
  nap_.async_wait([this](const std::error_code& error) {
    napping_ = false;
    if (!error) settle();
  });
}

void Worker::listen() {
  // UCX wakes no thread that waits for a peer's connection (1.13, shared memory).
  if (under_way_ > 0 || !retired_.empty()) nap();
  if (std::exchange(listening_, true)) return;
  events_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this](const std::error_code& error) {
                       listening_ = false;
                       if (!error) settle();
                     });
}

}  // namespace isthmus::net::ucx

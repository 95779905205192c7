// The served contexts of an engine: the messages of each, by peer, in order. A message is taken in
// when it has room, and handed over when it and all before it are whole.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/base/kept_memory.hpp"
#include "core/engine/inbound.hpp"
#include "core/engine/service.hpp"

namespace isthmus::core {

class Services final : public Completion {
 public:
  /// Gives a message its receive; null: drops it.
  using Bind = std::function<void(Incoming& message, RecvOp* op)>;
  explicit Services(Bind bind) : bind_(std::move(bind)) {}

  void serve(std::uint64_t context, Service& service);
  /// Messages not handed over are dropped, and so are their later parts.
  void end(std::uint64_t context);

  /// A message of such a context is next in order. False: it is longer than allowed.
  [[nodiscard]] bool add(Incoming& message);
  /// The service that takes a message at once if it is whole, since no other waits before it; or
  /// null.
  Service* ready_for(std::uint64_t context, NodeId peer) const;

  /// A peer has failed: its messages that are not handed over are dropped. Their memory stays until
  /// `bind` has let go of them. Returns how many were being received.
  std::size_t fail(NodeId peer);
  /// Tells all services (Service::fail).
  void tell_failed(NodeId first, NodeId count);

  /// A message taken in is whole: hands over what can be.
  void over(Op& op) override;
  /// A peer has sent what its service does not understand.
  bool broken() const { return broken_; }

 private:
  struct Arrival : RecvOp {
    NodeId from = kNobody;
    KeptBlock memory;
    bool whole = false;
  };
  struct Queue {
    std::deque<Incoming*> waiting;
    std::deque<std::unique_ptr<Arrival>> taken;
    std::size_t bytes = 0;  // of those taken
  };
  struct Served {
    Service* service = nullptr;
    bool ended = false;
    std::unordered_map<NodeId, Queue> queues;
  };
  void take_in(Served& served, Queue& queue);
  void forget(std::uint64_t context);

  Bind bind_;
  std::unordered_map<std::uint64_t, Served> contexts_;
  bool broken_ = false;
};

}  // namespace isthmus::core

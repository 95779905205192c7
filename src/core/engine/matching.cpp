#include "core/engine/matching.hpp"

#include <algorithm>

namespace isthmus::core {

namespace {

bool matches(int wanted_source, int wanted_tag, const Envelope& envelope) {
  return (wanted_source == kAnySource || wanted_source == envelope.source) &&
         (wanted_tag == kAnyTag || wanted_tag == envelope.tag);
}

}  // namespace

// A context's queues stay when they run empty, so that traffic does not allocate. Queues of old
// communicators are swept out when their number has doubled.
Matching::Queues& Matching::queues(std::uint64_t context) {
  const auto found = contexts_.find(context);
  if (found != contexts_.end()) return found->second;
  if (contexts_.size() >= sweep_at_) {
    std::erase_if(contexts_, [](const auto& entry) {
      return entry.second.posted.empty() && entry.second.unexpected.empty();
    });
    sweep_at_ = std::max<std::size_t>(64, 2 * contexts_.size());
  }
  return contexts_[context];
}

RecvOp* Matching::take_posted(const Envelope& envelope) {
  const auto found = contexts_.find(envelope.context);
  if (found == contexts_.end() || found->second.withheld) return nullptr;
  auto& posted = found->second.posted;
  for (RecvOp* op = posted.front(); op != nullptr; op = posted.next(*op)) {
    if (matches(op->source, op->tag, envelope)) {
      posted.erase(*op);
      if (op->tell != nullptr) op->tell->add(*op);
      return op;
    }
  }
  return nullptr;
}

void Matching::post(RecvOp& op) { queues(op.context).posted.push_back(op); }

bool Matching::unpost(RecvOp& op) {
  if (!op.links.linked) return false;
  queues(op.context).posted.erase(op);
  return true;
}

bool Matching::withhold(RecvOp& op) {
  if (!op.links.linked) return false;
  queues(op.context).withheld = true;
  return true;
}

void Matching::release(const RecvOp& op) { queues(op.context).withheld = false; }

bool Matching::withheld(std::uint64_t context) const {
  const auto found = contexts_.find(context);
  return found != contexts_.end() && found->second.withheld;
}

Incoming* Matching::first_unexpected(std::uint64_t context) const {
  const auto found = contexts_.find(context);
  return found == contexts_.end() ? nullptr : found->second.unexpected.front();
}

Incoming* Matching::next_unexpected(const Incoming& message) { return Unexpected::next(message); }

Incoming* Matching::find_unexpected(std::uint64_t context, int source, int tag) const {
  const auto found = contexts_.find(context);
  if (found == contexts_.end() || found->second.withheld) return nullptr;
  const auto& unexpected = found->second.unexpected;
  for (Incoming* m = unexpected.front(); m != nullptr; m = unexpected.next(*m)) {
    if (matches(source, tag, m->envelope())) return m;
  }
  return nullptr;
}

void Matching::add_unexpected(Incoming& message) {
  queues(message.envelope().context).unexpected.push_back(message);
}

void Matching::remove_unexpected(Incoming& message) {
  queues(message.envelope().context).unexpected.erase(message);
}

}  // namespace isthmus::core

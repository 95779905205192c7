// Operations, and the messages that they go in.
#include "rma/origin.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "rma/parcel.hpp"

namespace isthmus::rma {

Origin::Origin(Channel& channel) : channel_(channel) {}

Origin::~Origin() = default;

Origin::Partner& Origin::partner(int rank) {
  auto& found = partners_[rank];
  if (!found) {
    found = std::make_unique<Partner>();
    if (failed(rank)) found->gate.fail();
  }
  return *found;
}

Origin::Partner& Origin::towards(int rank) {
  unsettle();
  Partner& found = partner(rank);
  if (found.gate.failed()) found.lost = true;
  return found;
}

bool Origin::failed(int rank) const { return channel_.engine.failed(channel_.node(rank)); }

void Origin::fail(int rank) {
  const auto found = partners_.find(rank);
  if (found == partners_.end()) return;
  Partner& to = *found->second;
  if (!to.caught_up()) to.lost = true;
  to.gate.fail();
  send_batch(rank, to);
  release(to);  // the engine ends all of it
}

const Origin::Partner* Origin::find(int rank) const {
  const auto found = partners_.find(rank);
  return found == partners_.end() ? nullptr : found->second.get();
}

bool Origin::all_over() const {
  return under_way_ == 0 && std::all_of(partners_.begin(), partners_.end(), [](const auto& entry) {
           return entry.second->batch.empty();
         });
}

void Origin::settle() {
  const bool all = std::all_of(partners_.begin(), partners_.end(), [](const auto& entry) {
    return entry.second->caught_up() && !entry.second->failure;
  });
  settled_.store(all, std::memory_order_release);
}

std::vector<int> Origin::partners() const {
  std::vector<int> ranks;
  ranks.reserve(partners_.size());
  for (const auto& [rank, partner] : partners_) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// ---- records ------------------------------------------------------------------------------------

void Origin::send_batch(int rank, Partner& to) {
  if (!to.batch.empty()) ship(rank, to, std::make_unique<Batch>(*this, to));
}

void Origin::ship(int rank, Partner& to, std::unique_ptr<Parcel> parcel) {
  parcel->peer = channel_.node(rank);
  to.held.push_back(parcel.release());
  release(to);
}

void Origin::release(Partner& to) {
  while (!to.held.empty()) {
    Parcel& next = *to.held.front();
    if (!to.gate.lets(next.next())) return;
    if (next.last()) to.held.pop_front();
    next.go(channel_.engine);
  }
}

void Origin::written(int rank, Partner& to) {
  to.unflushed = true;
  if (to.batch.size() >= kBatch) send_batch(rank, to);
}

void Origin::send_now(int rank) { send_batch(rank, partner(rank)); }

void Origin::send_all() {
  for (auto& [rank, to] : partners_) send_batch(rank, *to);
}

bool Origin::has_room(int rank) const {
  const Partner* const to = find(rank);
  if (to == nullptr) return true;
  return to->backlog < kBacklog && to->apart < kMostApart && to->fetches < kMostFetches;
}

std::uint32_t Origin::map_number(int rank, Partner& to, const core::TypeMap& map) {
  std::vector<std::byte> form;
  map.encode(form);
  if (form.size() > kMostMap) {
    throw std::length_error("the target's datatype has more distinct blocks than travel");
  }
  const auto [found, fresh] = to.map_numbers.try_emplace(
      std::string(reinterpret_cast<const char*>(form.data()), form.size()),
      static_cast<std::uint32_t>(to.map_numbers.size() + 1));
  if (fresh) {
    RecordWriter(to.batch).put(Kind::Map).put(static_cast<std::uint64_t>(form.size())).put(form);
    written(rank, to);
  }
  return found->second;
}

// ---- operations ---------------------------------------------------------------------------------

void Origin::put(const Place& to, std::span<const std::byte> data,
                 const std::shared_ptr<void>& keep, const Ticket& ticket) {
  if (data.empty()) return;
  if (to.staged && data.size() >= kApart) {
    return accumulate_apart(to, {Op::Replace, raw(1)}, data, keep, ticket);
  }
  Partner& target = towards(to.rank);
  if (to.map == nullptr && data.size() >= kApart) {
    const int tag = next_tag();
    RecordWriter(target.batch)
        .put(Kind::PutApart)
        .put(Area{.displacement = to.displacement, .size = data.size()})
        .put(tag);
    target.unflushed = true;
    target.unlanded = true;
    send_batch(to.rank, target);
    auto apart = std::make_unique<Apart>(*this, target, keep, ticket);
    apart->envelope = channel_.of_data(tag | kApartTag);
    apart->data = data;
    ship(to.rank, target, std::move(apart));
    return;
  }
  const std::uint32_t map = to.map != nullptr ? map_number(to.rank, target, *to.map) : 0;
  for (std::size_t at = 0; at < data.size(); at += kPart) {
    const auto part = data.subspan(at, std::min(kPart, data.size() - at));
    Area area{.displacement = to.displacement, .map = map, .size = part.size()};
    if (map != 0) {
      area.count = to.count;
      area.position = at;
    } else {
      area.displacement += static_cast<std::int64_t>(at);
    }
    RecordWriter(target.batch).put(Kind::Put).put(area).put(part);
    written(to.rank, target);
  }
}

void Origin::receive(int rank, Partner& from, int tag, std::span<std::byte> into, bool copied,
                     const Ticket& ticket) {
  const std::size_t copies = copied ? into.size() : 0;
  from.batch_answers += copies;
  auto fetch = std::make_unique<Fetch>(*this, from, copies, ticket);
  fetch->context = channel_.config.context;
  fetch->source = rank;
  fetch->tag = tag;
  fetch->from = channel_.node(rank);
  fetch->buffer = into.data();
  fetch->capacity = into.size();
  channel_.engine.recv(*fetch.release());
}

void Origin::get(const Place& from, std::span<std::byte> into, const Ticket& ticket) {
  if (into.empty()) return;
  Partner& target = towards(from.rank);
  const std::uint32_t map = from.map != nullptr ? map_number(from.rank, target, *from.map) : 0;
  // Without a map the window's memory itself is sent; else each part is packed at the target.
  const std::size_t most = from.staged ? kStreamPart
                           : map != 0  ? core::kMostServiceBytes
                                       : into.size();
  for (std::size_t at = 0; at < into.size(); at += most) {
    const auto part = into.subspan(at, std::min(most, into.size() - at));
    Area area{.displacement = from.displacement, .map = map, .size = part.size()};
    if (map != 0) {
      area.count = from.count;
      area.position = at;
    } else {
      area.displacement += static_cast<std::int64_t>(at);
    }
    const int tag = next_tag();
    const bool apart = map == 0 && part.size() >= kApart;
    target.unlanded = target.unlanded || apart;
    receive(from.rank, target, tag, part, !apart || from.staged, ticket);
    RecordWriter(target.batch).put(Kind::Get).put(area).put(tag);
    written(from.rank, target);
    if (target.batch_answers >= core::kMostServiceBytes) send_batch(from.rank, target);
  }
}

void Origin::accumulate_parts(const Place& to, const Combination& how,
                              std::span<const std::byte> data, std::span<std::byte> before,
                              const Ticket& ticket) {
  const std::size_t size = std::max(data.size(), before.size());
  if (size == 0) return;
  Partner& target = towards(to.rank);
  const std::uint32_t map = to.map != nullptr ? map_number(to.rank, target, *to.map) : 0;
  const std::size_t packed = how.element.packed();
  const std::size_t most = kPart / packed * packed;
  for (std::size_t at = 0; at < size; at += most) {
    Area area{.displacement = to.displacement, .map = map, .size = std::min(most, size - at)};
    const auto bytes = static_cast<std::size_t>(area.size);
    if (map != 0) {
      area.count = to.count;
      area.position = at;
    } else {
      area.displacement += static_cast<std::int64_t>(at / packed * how.element.extent);
    }
    int tag = 0;
    if (!before.empty()) {
      tag = next_tag();
      if (tag == 0) tag = next_tag();
      receive(to.rank, target, tag, before.subspan(at, bytes), true, ticket);
    }
    RecordWriter writer(target.batch);
    writer.put(Kind::Accumulate).put(area).put(how).put(tag);
    if (how.op != Op::NoOp) writer.put(data.subspan(at, bytes));
    written(to.rank, target);
  }
}

// In parts that follow each other: the target computes with one while the next one comes.
void Origin::accumulate_apart(const Place& to, const Combination& how,
                              std::span<const std::byte> data, const std::shared_ptr<void>& keep,
                              const Ticket& ticket) {
  Partner& target = towards(to.rank);
  Area area{.displacement = to.displacement, .size = data.size()};
  if (to.map != nullptr) {
    area.map = map_number(to.rank, target, *to.map);
    area.count = to.count;
  }
  RecordWriter(target.batch).put(Kind::AccumulateApart).put(area).put(how);
  target.unflushed = true;
  send_batch(to.rank, target);
  const std::size_t packed = how.element.packed();
  ship(to.rank, target,
       std::make_unique<Stream>(*this, target, data, kStreamPart / packed * packed, keep, ticket));
}

void Origin::accumulate(const Place& to, const Combination& how, std::span<const std::byte> data,
                        const std::shared_ptr<void>& keep, const Ticket& ticket) {
  if (how.op == Op::NoOp) return;
  if (data.size() >= kApart) return accumulate_apart(to, how, data, keep, ticket);
  accumulate_parts(to, how, data, {}, nullptr);
}

void Origin::fetch(const Place& to, const Combination& how, std::span<const std::byte> data,
                   std::span<std::byte> before, const Ticket& ticket) {
  accumulate_parts(to, how, data, before, ticket);
}

void Origin::compare_and_swap(const Place& to, std::span<const std::byte> compare,
                              std::span<const std::byte> swap, std::span<std::byte> before,
                              const Ticket& ticket) {
  Partner& target = towards(to.rank);
  const int tag = next_tag();
  receive(to.rank, target, tag, before, true, ticket);
  RecordWriter(target.batch)
      .put(Kind::Compare)
      .put(to.displacement)
      .put(static_cast<std::uint32_t>(compare.size()))
      .put(tag)
      .put(compare)
      .put(swap);
  written(to.rank, target);
}

}  // namespace isthmus::rma

// The target's side: records are executed as they come, on the thread that has the I/O's turn.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "rma/combining.hpp"
#include "rma/partner.hpp"
#include "rma/window.hpp"

namespace isthmus::rma {

namespace {

// Answers and posts come in messages of their own, and wait for nothing: the rank that gets them
// may need them before it can answer others.
bool waits_for_nothing(std::span<const std::byte> records) {
  if (records.empty()) return true;
  const auto kind = static_cast<Kind>(records.front());
  return kind == Kind::Post || kind == Kind::Granted || kind == Kind::Done || kind == Kind::Pass;
}

}  // namespace

bool Window::take(core::NodeId from, const core::Envelope& envelope,
                  std::span<const std::byte> bytes) {
  const int rank = envelope.source;
  if (rank < 0 || static_cast<std::size_t>(rank) >= config_.nodes.size() ||
      config_.nodes[static_cast<std::size_t>(rank)] != from) {
    return false;
  }
  Partner& origin = partner(rank);
  const bool data = envelope.tag == kDataTag;
  if (data || !waits_for_nothing(bytes)) {
    if (!origin.stalled.empty()) {
      if (origin.stalled.size() + bytes.size() > kMostStalled) return false;
      origin.stalled.insert(origin.stalled.end(), bytes.begin(), bytes.end());
      return true;
    }
    if (data) return take_data(origin, bytes);
    if (origin.apart_here) return false;  // its data must come next
  }
  RecordReader in(bytes);
  if (!run(rank, origin, in)) return false;
  resume_all();
  return !broken_;
}

// False: the origin breaks the protocol.
bool Window::run(int rank, Partner& from, RecordReader& in) {
  const bool outer = std::exchange(running_, true);
  Step step = Step::Done;
  while (step == Step::Done && !in.at_end()) {
    const auto rest = in.rest();
    step = execute(rank, from, in);
    if (step != Step::Stalled) continue;
    if (!from.stalled.empty()) step = Step::Broken;
    from.stalled.assign(rest.begin(), rest.end());
  }
  running_ = outer;
  return step != Step::Broken;
}

// Resumes waiting origins, which may be able to go on.
void Window::resume_all() {
  if (running_) return;
  while (!resumable_.empty()) {
    const int rank = resumable_.front();
    resumable_.pop_front();
    Partner& from = partner(rank);
    const auto records = std::exchange(from.stalled, {});
    RecordReader in(records);
    if (!run(rank, from, in)) broken_ = true;
  }
}

Window::Step Window::execute(int rank, Partner& from, RecordReader& in) {
  switch (in.kind()) {
    case Kind::Map:
      return define_map(from, in);
    case Kind::Put:
      return put(rank, from, in);
    case Kind::PutApart:
      return put_apart(rank, from, in);
    case Kind::Get:
      return get(rank, from, in);
    case Kind::Accumulate:
      return accumulate(rank, from, in);
    case Kind::AccumulateApart:
      return accumulate_apart(from, in);
    case Kind::Compare:
      return compare(rank, from, in);
    case Kind::Lock: {
      const auto number = in.get<std::uint8_t>();
      if (!in.good() || number > static_cast<std::uint8_t>(LockType::Passing)) return Step::Broken;
      if (!locks_.holds(rank)) {
        if (locks_.waits(rank)) return Step::Stalled;
        auto type = static_cast<LockType>(number);
        const bool passes = std::exchange(from.passes, false);
        if (passes && type == LockType::Shared) type = LockType::Passing;
        if (!locks_.request(rank, type)) return Step::Stalled;
      }
      std::vector<std::byte> records;
      RecordWriter(records).put(Kind::Granted);
      tell(rank, std::move(records));
      return Step::Done;
    }
    case Kind::Pass:
      // Its lock request may still be on its way, behind messages that wait for the network.
      if (locks_.pass(rank)) {
        resumable_.push_back(rank);
      } else if (!locks_.holds(rank) && !locks_.waits(rank)) {
        from.passes = true;
      }
      return Step::Done;
    case Kind::Unlock:
      return unlock(rank, from, in);
    case Kind::Flush: {
      const auto number = in.get<std::uint64_t>();
      if (!in.good()) return Step::Broken;
      // The origin itself knows when its answers have come.
      if (from.landing > 0) return Step::Stalled;
      tell_done(rank, from, number);
      return Step::Done;
    }
    case Kind::Post:
      ++from.posts;
      release(from);
      return Step::Done;
    case Kind::Complete:
      if (!from.at_rest()) return Step::Stalled;
      ++from.completes;
      return Step::Done;
    case Kind::Granted:
      if (from.locks_granted == from.locks_asked) return Step::Broken;
      ++from.locks_granted;
      release(from);
      return Step::Done;
    case Kind::Done: {
      const auto number = in.get<std::uint64_t>();
      const auto failed = in.get<std::uint8_t>();
      if (!in.good() || number > from.asked) return Step::Broken;
      from.answered = std::max(from.answered, number);
      from.failed = from.failed || failed != 0;
      release(from);
      return Step::Done;
    }
  }
  return Step::Broken;
}

Window::Step Window::unlock(int rank, Partner& from, RecordReader& in) {
  const auto number = in.get<std::uint64_t>();
  if (!in.good() || !locks_.holds(rank)) return Step::Broken;
  if (!from.at_rest()) return Step::Stalled;
  for (const int next : locks_.release(rank)) resumable_.push_back(next);
  tell_done(rank, from, number);
  return Step::Done;
}

// ---- answers ------------------------------------------------------------------------------------

void Window::tell(int rank, std::vector<std::byte> records) {
  engine_.post(config_.nodes[static_cast<std::size_t>(rank)],
               {.context = config_.context | core::kServiceContext, .source = config_.rank},
               std::move(records));
}

void Window::tell_done(int rank, Partner& to, std::uint64_t number) {
  std::vector<std::byte> records;
  const bool failed = std::exchange(to.out_of_range, false);
  RecordWriter(records).put(Kind::Done).put(number).put(static_cast<std::uint8_t>(failed ? 1 : 0));
  tell(rank, std::move(records));
}

void Window::answer(int rank, int tag, std::vector<std::byte> bytes) {
  engine_.post(config_.nodes[static_cast<std::size_t>(rank)],
               {.context = config_.context, .source = config_.rank, .tag = tag}, std::move(bytes));
}

// ---- operations ---------------------------------------------------------------------------------

Window::Step Window::define_map(Partner& from, RecordReader& in) {
  const auto size = in.get<std::uint64_t>();
  auto map = core::TypeMap::decode(in.bytes(size));
  if (!in.good() || !map) return Step::Broken;
  from.maps.push_back(std::move(*map));
  return Step::Done;
}

// The pieces of an area may be exposed although the whole is not: gaps are not accessed.
std::byte* Window::find_pieces(const Area& area, const core::TypeMap& map) const {
  core::TypeCursor cursor(map, area.count, static_cast<std::int64_t>(area.position));
  auto left = static_cast<std::int64_t>(area.size);
  while (left > 0) {
    const core::Piece piece = cursor.next(left);
    const std::int64_t end = piece.offset + piece.length;
    if (piece.length == 0 || memory_.find(area.displacement, piece.offset, end) == nullptr) {
      return nullptr;
    }
    left -= piece.length;
  }
  return memory_.find(area.displacement, 0, 0);
}

// False: the origin breaks the protocol. `element`: of an accumulate.
bool Window::resolve(Partner& from, const Area& area, const Element* element, Target& target) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 512);
  if (area.size > kMost) return false;
  if (element != nullptr && area.size % element->packed() != 0) return false;
  std::int64_t low = 0, high = static_cast<std::int64_t>(area.size);
  if (area.map != 0) {
    if (area.map > from.maps.size() || area.count < 0) return false;
    target.map = &from.maps[area.map - 1];
    const auto bounds = target.map->bounds(area.count);
    if (!bounds) return false;
    if (element != nullptr && area.position % element->packed() != 0) return false;
    const core::TypeCursor all(*target.map, area.count);
    const auto total = static_cast<std::uint64_t>(all.total());
    if (area.position > total || area.size > total - area.position) return false;
    low = bounds->low;
    high = bounds->high;
  } else if (element != nullptr && !element->gapless()) {
    // The last element may end before its extent does.
    const std::uint64_t count = area.size / element->packed();
    high = count == 0 ? 0
                      : static_cast<std::int64_t>((count - 1) * element->extent +
                                                  element->index_offset + element->index_size);
  }
  target.memory = memory_.find(area.displacement, low, high);
  if (target.memory == nullptr && target.map != nullptr) {
    target.memory = find_pieces(area, *target.map);
  }
  if (target.memory == nullptr) from.out_of_range = true;
  return true;
}

Window::Step Window::put(int /*rank*/, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto data = in.bytes(area.size);
  Target target;
  if (!in.good() || !resolve(from, area, nullptr, target)) return Step::Broken;
  if (target.memory == nullptr || data.empty()) return Step::Done;
  if (target.map == nullptr) {
    std::memcpy(target.memory, data.data(), data.size());
  } else {
    core::TypeCursor cursor(*target.map, area.count, static_cast<std::int64_t>(area.position));
    core::unpack(cursor, target.memory, data);
  }
  return Step::Done;
}

Window::Step Window::put_apart(int rank, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto tag = in.get<std::int32_t>();
  Target target;
  if (!in.good() || area.map != 0 || !resolve(from, area, nullptr, target)) return Step::Broken;
  if (from.landing >= kMostLandings) return Step::Broken;
  auto landing = std::make_unique<Landing>(*this, rank, from);
  landing->context = config_.context;
  landing->source = rank;
  landing->tag = tag | kApartTag;
  landing->buffer = target.memory;
  landing->capacity = target.memory == nullptr ? 0 : static_cast<std::size_t>(area.size);
  engine_.recv(*landing.release());
  return Step::Done;
}

Window::Step Window::get(int rank, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto tag = in.get<std::int32_t>();
  Target target;
  if (!in.good() || !resolve(from, area, nullptr, target)) return Step::Broken;
  if (from.answering >= kMostAnswering) return Step::Broken;
  const auto size = static_cast<std::size_t>(area.size);
  if (target.memory == nullptr) {
    answer(rank, tag, {});
  } else if (target.map != nullptr) {
    if (size > core::kMostServiceBytes) return Step::Broken;
    std::vector<std::byte> bytes(size);
    core::TypeCursor cursor(*target.map, area.count, static_cast<std::int64_t>(area.position));
    core::pack(cursor, target.memory, bytes);
    answer(rank, tag, std::move(bytes));
  } else if (size < kApart) {
    answer(rank, tag, {target.memory, target.memory + size});
  } else {
    auto lent = std::make_unique<Lent>(*this, rank, from);
    lent->peer = config_.nodes[static_cast<std::size_t>(rank)];
    lent->envelope = {.context = config_.context, .source = config_.rank, .tag = tag};
    lent->data = {target.memory, size};
    engine_.send(*lent.release());
  }
  return Step::Done;
}

Window::Step Window::compare(int rank, Partner& from, RecordReader& in) {
  const auto displacement = in.get<std::int64_t>();
  const auto size = in.get<std::uint32_t>();
  const auto tag = in.get<std::int32_t>();
  const auto expected = in.bytes(size);
  const auto swap = in.bytes(size);
  Target target;
  if (!in.good() || !resolve(from, {.displacement = displacement, .size = size}, nullptr, target)) {
    return Step::Broken;
  }
  std::vector<std::byte> before;
  if (target.memory != nullptr) {
    before.resize(size);
    swap_there(target.memory, expected, swap, before, config_.turn);
  }
  answer(rank, tag, std::move(before));
  return Step::Done;
}

}  // namespace isthmus::rma

#include "rma/target.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "rma/device_area.hpp"
#include "rma/limits.hpp"
#include "rma/origin.hpp"
#include "rma/target_partner.hpp"

namespace isthmus::rma {

namespace {

// Records of these kinds in a row share their copies, and wait once.
bool shares_copies(Kind kind) {
  return kind == Kind::Put || kind == Kind::Accumulate || kind == Kind::Map;
}

Elements elements_of(const Spot& spot, const Area& area) {
  return {.memory = spot.memory,
          .map = spot.map,
          .count = area.count,
          .position = static_cast<std::int64_t>(area.position),
          .size = static_cast<std::size_t>(area.size)};
}

// Answers and posts come in messages of their own, and wait for nothing: the rank that gets them
// may need them before it can answer others.
bool waits_for_nothing(std::span<const std::byte> records) {
  if (records.empty()) return true;
  const auto kind = static_cast<Kind>(records.front());
  return kind == Kind::Post || kind == Kind::Granted || kind == Kind::Done || kind == Kind::Pass;
}

}  // namespace

Target::Target(Channel& channel, Memory memory, Origin& own)
    : channel_(channel),
      memory_(std::move(memory)),
      own_(own),
      device_(channel.config.open_device) {}

Target::~Target() = default;

Target::Partner& Target::partner(int rank) {
  auto& found = partners_[rank];
  if (!found) found = std::make_unique<Partner>();
  return *found;
}

bool Target::has_completed(int rank) const {
  const auto found = partners_.find(rank);
  return found != partners_.end() && found->second->completes > 0;
}

void Target::take_complete(int rank) { --partner(rank).completes; }

bool Target::all_over() const {
  return under_way_ == 0 && std::all_of(partners_.begin(), partners_.end(), [](const auto& entry) {
           return entry.second->stalled.empty() && !entry.second->apart_here;
         });
}

bool Target::take(int rank, bool data, std::span<const std::byte> bytes) {
  Partner& origin = partner(rank);
  if (data || !waits_for_nothing(bytes)) {
    if (!origin.stalled.empty()) {
      if (origin.stalled.size() + bytes.size() > kMostStalled) return false;
      origin.stalled.insert(origin.stalled.end(), bytes.begin(), bytes.end());
      return true;
    }
    if (data) {
      const bool good = take_data(origin, bytes);
      end_device(origin);
      return good;
    }
    if (origin.apart_here) return false;  // its data must come next
  }
  RecordReader in(bytes);
  if (!run(rank, origin, in)) return false;
  resume_all();
  return !broken_;
}

void Target::fail(int rank) {
  if (const auto found = partners_.find(rank); found != partners_.end()) {
    found->second->stalled.clear();
    found->second->apart_here.reset();
  }
  for (const int next : locks_.forget(rank)) resumable_.push_back(next);
  resume_all();
}

// False: the origin breaks the protocol.
bool Target::run(int rank, Partner& from, RecordReader& in) {
  const bool outer = std::exchange(running_, true);
  Step step = Step::Done;
  while (step == Step::Done && !in.at_end()) {
    const auto rest = in.rest();
    if (device_.under_way() && !shares_copies(static_cast<Kind>(rest.front()))) end_device(from);
    step = execute(rank, from, in);
    if (step != Step::Stalled) continue;
    if (!from.stalled.empty()) step = Step::Broken;
    from.stalled.assign(rest.begin(), rest.end());
  }
  end_device(from);
  running_ = outer;
  return step != Step::Broken;
}

// Resumes waiting origins, which may be able to go on.
void Target::resume_all() {
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

Target::Step Target::execute(int rank, Partner& from, RecordReader& in) {
  switch (in.kind()) {
    case Kind::Map:
      return define_map(from, in);
    case Kind::Put:
      return put(from, in);
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
    case Kind::Lock:
      return lock(rank, from, in);
    case Kind::Pass:
      return pass(rank, from);
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
      own_.take_post(rank);
      return Step::Done;
    case Kind::Complete:
      if (!from.at_rest()) return Step::Stalled;
      ++from.completes;
      return Step::Done;
    case Kind::Granted:
      return own_.take_grant(rank) ? Step::Done : Step::Broken;
    case Kind::Done: {
      const auto number = in.get<std::uint64_t>();
      const auto outcome = in.get<std::uint8_t>();
      if (!in.good() || outcome > static_cast<std::uint8_t>(Outcome::DeviceFailed)) {
        return Step::Broken;
      }
      std::optional<Failure> failure;
      if (outcome != 0) failure.emplace();
      if (static_cast<Outcome>(outcome) == Outcome::DeviceFailed) {
        const auto words = in.bytes(in.get<std::uint32_t>());
        if (!in.good() || words.empty() || words.size() > kMostWords) return Step::Broken;
        failure->device.assign(reinterpret_cast<const char*>(words.data()), words.size());
      }
      return own_.take_done(rank, number, std::move(failure)) ? Step::Done : Step::Broken;
    }
  }
  return Step::Broken;
}

Target::Step Target::lock(int rank, Partner& from, RecordReader& in) {
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
  channel_.post(rank, std::move(records));
  return Step::Done;
}

// Its lock request may still be on its way, behind messages that wait for the network.
Target::Step Target::pass(int rank, Partner& from) {
  if (locks_.pass(rank)) {
    resumable_.push_back(rank);
  } else if (!locks_.holds(rank) && !locks_.waits(rank)) {
    from.passes = true;
  }
  return Step::Done;
}

Target::Step Target::unlock(int rank, Partner& from, RecordReader& in) {
  const auto number = in.get<std::uint64_t>();
  if (!in.good() || !locks_.holds(rank)) return Step::Broken;
  if (!from.at_rest()) return Step::Stalled;
  for (const int next : locks_.release(rank)) resumable_.push_back(next);
  tell_done(rank, from, number);
  return Step::Done;
}

// ---- answers ------------------------------------------------------------------------------------

void Target::tell_done(int rank, Partner& to, std::uint64_t number) {
  std::vector<std::byte> records;
  const std::string words = std::exchange(to.device_failure, {}).substr(0, kMostWords);
  const bool outside = std::exchange(to.out_of_range, false);
  const Outcome outcome = !words.empty() ? Outcome::DeviceFailed
                          : outside      ? Outcome::OutOfRange
                                         : Outcome::Good;
  RecordWriter writer(records);
  writer.put(Kind::Done).put(number).put(static_cast<std::uint8_t>(outcome));
  if (outcome == Outcome::DeviceFailed) {
    writer.put(static_cast<std::uint32_t>(words.size())).put(std::as_bytes(std::span(words)));
  }
  channel_.post(rank, std::move(records));
}

// The origin hears of a failure with its next answer.
bool Target::note(Partner& from, bool good) {
  if (!good) from.device_failure = device_.words();
  return good;
}

bool Target::resolve(Partner& from, const Area& area, const Element* element, Spot& spot) {
  const auto found = find_exposed(memory_, from.maps, area, element);
  if (!found) return false;
  spot = *found;
  if (spot.memory == nullptr) from.out_of_range = true;
  return true;
}

// ---- operations ---------------------------------------------------------------------------------

Target::Step Target::define_map(Partner& from, RecordReader& in) {
  const auto size = in.get<std::uint64_t>();
  auto map = core::TypeMap::decode(in.bytes(size));
  if (!in.good() || !map) return Step::Broken;
  from.maps.push_back(std::move(*map));
  return Step::Done;
}

Target::Step Target::put(Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto data = in.bytes(area.size);
  Spot spot;
  if (!in.good() || !resolve(from, area, nullptr, spot)) return Step::Broken;
  if (spot.memory == nullptr || data.empty()) return Step::Done;
  if (spot.device != nullptr) {
    on_device(from, spot.device,
              [&](DeviceCopies& copies) { write_device(copies, elements_of(spot, area), data); });
  } else if (spot.map == nullptr) {
    std::memcpy(spot.memory, data.data(), data.size());
  } else {
    core::TypeCursor cursor(*spot.map, area.count, static_cast<std::int64_t>(area.position));
    core::unpack(cursor, spot.memory, data);
  }
  return Step::Done;
}

Target::Step Target::put_apart(int rank, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto tag = in.get<std::int32_t>();
  Spot spot;
  if (!in.good() || area.map != 0 || !resolve(from, area, nullptr, spot)) return Step::Broken;
  if (from.landing >= kMostLandings) return Step::Broken;
  auto landing = std::make_unique<Landing>(*this, rank, from);
  landing->context = channel_.config.context;
  landing->source = rank;
  landing->tag = tag | kApartTag;
  landing->from = channel_.node(rank);
  landing->buffer = spot.memory;
  landing->capacity = spot.memory == nullptr ? 0 : static_cast<std::size_t>(area.size);
  if (spot.device != nullptr) {
    landing->device = spot.device;
    landing->displacement = area.displacement;
    landing->staged.reset(new (std::nothrow) std::byte[landing->capacity]);
    landing->buffer = landing->staged.get();
    if (landing->staged == nullptr) landing->capacity = 0;
  }
  channel_.engine.recv(*landing.release());
  return Step::Done;
}

// Data has come for memory of a device. If that is not exposed any more, it may be freed.
void Target::land(Landing& landing) {
  if (landing.error == core::OpError::Failed) return;
  Partner& from = landing.origin;
  if (landing.staged == nullptr) {
    from.device_failure = "no memory of the host for its data";
    return;
  }
  const Area area{.displacement = landing.displacement, .size = landing.received};
  std::byte* const there =
      memory_.find(area.displacement, 0, static_cast<std::int64_t>(landing.received));
  if (there == nullptr || memory_.device(area.displacement, 0) != landing.device) {
    from.out_of_range = true;
    return;
  }
  on_device(from, landing.device, [&](DeviceCopies& copies) {
    copies.to_device(there, landing.staged.get(), landing.received);
  });
  end_device(from);
}

Target::Step Target::get(int rank, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto tag = in.get<std::int32_t>();
  Spot spot;
  if (!in.good() || !resolve(from, area, nullptr, spot)) return Step::Broken;
  if (from.answering >= kMostAnswering) return Step::Broken;
  const auto size = static_cast<std::size_t>(area.size);
  if (spot.memory == nullptr) {
    channel_.answer(rank, tag, {});
  } else if (spot.map != nullptr && size > core::kMostServiceBytes) {
    return Step::Broken;
  } else if (spot.device != nullptr) {
    std::vector<std::byte> bytes;
    const bool good = on_device(from, spot.device, [&](DeviceCopies& copies) {
      bytes.resize(size);
      read_device(copies, elements_of(spot, area), bytes);
    });
    if (!good) bytes.clear();
    end_device(from);
    channel_.answer(rank, tag, std::move(bytes));
  } else if (spot.map != nullptr) {
    std::vector<std::byte> bytes(size);
    core::TypeCursor cursor(*spot.map, area.count, static_cast<std::int64_t>(area.position));
    core::pack(cursor, spot.memory, bytes);
    channel_.answer(rank, tag, std::move(bytes));
  } else if (size < kApart) {
    channel_.answer(rank, tag, {spot.memory, spot.memory + size});
  } else {
    auto lent = std::make_unique<Lent>(*this, rank, from);
    lent->peer = channel_.node(rank);
    lent->envelope = channel_.of_data(tag);
    lent->data = {spot.memory, size};
    channel_.engine.send(*lent.release());
  }
  return Step::Done;
}

Target::Step Target::compare(int rank, Partner& from, RecordReader& in) {
  const auto displacement = in.get<std::int64_t>();
  const auto size = in.get<std::uint32_t>();
  const auto tag = in.get<std::int32_t>();
  const auto expected = in.bytes(size);
  const auto swap = in.bytes(size);
  Spot spot;
  if (!in.good() || !resolve(from, {.displacement = displacement, .size = size}, nullptr, spot)) {
    return Step::Broken;
  }
  std::vector<std::byte> before;
  if (spot.memory != nullptr) {
    before.resize(size);
    if (spot.device == nullptr) {
      swap_there(spot.memory, expected, swap, before, channel_.config.turn);
    } else {
      const bool good = on_device(from, spot.device, [&](DeviceCopies& copies) {
        swap_device(copies, spot.memory, expected, swap, before);
      });
      if (!good) before.clear();
      end_device(from);
    }
  }
  channel_.answer(rank, tag, std::move(before));
  return Step::Done;
}

}  // namespace isthmus::rma

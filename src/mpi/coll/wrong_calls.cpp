#include "mpi/coll/wrong_calls.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/mutex.hpp"
#include "core/engine/service.hpp"
#include "core/wire/wire.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

constexpr std::size_t kLongestReason = 250;  // Writer::text
/// Kinds of calls that a member can still tell about after it has begun others.
constexpr std::size_t kMostCalls = 32;
/// For communicators that this process has not used for collectives yet.
constexpr std::size_t kMostEarly = 4096;

enum class Says : std::uint8_t { WrongCall, Outline };

/// MPI_Bcast and MPI_Bcast_c are one collective.
std::string_view name_of(std::string_view function) {
  if (function.ends_with("_c")) function.remove_suffix(2);
  return function;
}

core::Writer begin_message(std::vector<std::byte>& bytes, Says says, std::uint64_t context,
                           std::uint64_t number, int rank, const std::string& function) {
  core::Writer out(bytes);
  out.u8(static_cast<std::uint8_t>(says));
  out.u64(context);
  out.u64(number);
  out.u32(static_cast<std::uint32_t>(rank));
  out.text(function);
  return out;
}

void post(core::Engine& engine, core::NodeId to, std::vector<std::byte> bytes) {
  const core::Envelope envelope{
      .context = traffic::kWrongCalls, .source = grid()->node, .tag = 0, .size = bytes.size()};
  engine.post(to, envelope, std::move(bytes));
}

}  // namespace

/// The records of this process. One mutex guards all: the engine's lock may be held before it, and
/// is never taken under it.
class WrongCalls final : public core::Service {
 public:
  static WrongCalls& all() {
    static auto* const only = new WrongCalls;  // never destroyed: threads outlive static objects
    return *only;
  }

  bool take(core::NodeId, const core::Envelope&, std::span<const std::byte> bytes) override {
    core::Reader in(bytes);
    const auto says = static_cast<Says>(in.u8());
    const std::uint64_t context = in.u64();
    const std::uint64_t number = in.u64();
    const auto rank = static_cast<int>(in.u32());
    const std::string function = in.text();
    std::vector<CallRecord::Message> answers;
    if (says == Says::WrongCall) {
      const auto world_rank = static_cast<int>(in.u32());
      const std::string reason = in.text();
      if (!in.good() || !in.at_end()) return false;
      const core::Lock lock(mutex);
      const auto found = records_.find(context);
      CallRecord::Told told{number, rank, world_rank, function, reason};
      if (found != records_.end()) {
        found->second->hear(std::move(told), answers);
      } else {
        if (early_.size() >= kMostEarly) early_.clear();
        early_.emplace(context, std::move(told));
      }
    } else {
      CallRecord::Word word{in.u8() != 0, function, {}};
      if (word.known) word.outline = read_outline(in);
      if (!in.good() || !in.at_end()) return false;
      const core::Lock lock(mutex);
      const auto found = records_.find(context);
      if (found != records_.end()) found->second->hear(rank, number, std::move(word));
    }
    for (auto& [to, message] : answers) post(*engine, to, std::move(message));
    return true;
  }

  void enter(CallRecord& record) {
    const core::Lock lock(mutex);
    records_[record.context_] = &record;
    const auto [first, last] = early_.equal_range(record.context_);
    for (auto told = first; told != last; ++told) record.told_.push_back(std::move(told->second));
    early_.erase(first, last);
  }
  void leave(const CallRecord& record) {
    const core::Lock lock(mutex);
    records_.erase(record.context_);
  }

  core::Mutex mutex;
  core::Engine* engine = nullptr;  // that hands the messages over

 private:
  std::map<std::uint64_t, CallRecord*> records_ GUARDED_BY(mutex);  // by context
  std::multimap<std::uint64_t, CallRecord::Told> early_ GUARDED_BY(mutex);
};

void hear_of_wrong_calls() {
  grid()->endpoint->locked([](core::Engine& engine) {
    WrongCalls::all().engine = &engine;
    engine.serve(traffic::kWrongCalls, WrongCalls::all());
  });
}

CallRecord::CallRecord(std::uint64_t context, int me, core::Group group)
    : context_(context), me_(me), group_(std::move(group)) {
  WrongCalls::all().enter(*this);
}

CallRecord::~CallRecord() { WrongCalls::all().leave(*this); }

const CallRecord::Calls* CallRecord::find(std::uint64_t number) const {
  for (const Calls& calls : calls_) {
    if (calls.first <= number && number <= calls.last) return &calls;
  }
  return nullptr;
}

CallRecord::Message CallRecord::outline_for(int rank, std::uint64_t number) const {
  const Calls* const calls = find(number);
  std::vector<std::byte> bytes;
  core::Writer out = begin_message(bytes, Says::Outline, context_, number, me_,
                                   calls == nullptr ? std::string() : calls->function);
  out.u8(calls == nullptr ? 0 : 1);
  if (calls != nullptr) write_outline(out, calls->outline, rank);
  return {static_cast<core::NodeId>(group_.node(rank)), std::move(bytes)};
}

void CallRecord::begins(std::uint64_t number, const char* function, Outline outline) {
  std::vector<Message> answers;
  {
    const core::Lock lock(WrongCalls::all().mutex);
    latest_ = number;
    const std::string_view name = name_of(function);
    if (!calls_.empty() && calls_.back().last + 1 == number && calls_.back().function == name &&
        calls_.back().outline == outline) {
      calls_.back().last = number;
    } else {
      calls_.push_back({number, number, std::string(name), std::move(outline)});
      if (calls_.size() > kMostCalls) calls_.pop_front();
    }
    if (told_.empty()) return;
    std::erase_if(told_, [number](const Told& told) { return told.number < number; });
    for (const Told& told : told_) {
      if (told.number == number) answers.push_back(outline_for(told.rank, number));
    }
  }
  grid()->endpoint->locked([&](core::Engine& engine) {
    for (auto& [to, message] : answers) post(engine, to, std::move(message));
  });
}

void CallRecord::begins_wrongly(std::uint64_t number) {
  const core::Lock lock(WrongCalls::all().mutex);
  latest_ = number;
  std::erase_if(told_, [number](const Told& told) { return told.number <= number; });
}

std::optional<std::string> CallRecord::spoilt_by() {
  const core::Lock lock(WrongCalls::all().mutex);
  if (told_.empty()) return {};
  const Calls* const calls = find(latest_);
  for (const Told& told : told_) {
    if (told.number != latest_ || calls == nullptr || told.function != calls->function) continue;
    if (!depends_on(calls->outline, me_, told.rank)) continue;
    return "it failed on rank " + std::to_string(told.world_rank) + ": " + told.reason;
  }
  return {};
}

void CallRecord::hear(Told told, std::vector<Message>& answers) {
  if (told.rank < 0 || told.rank >= group_.size()) return;
  news_ = true;
  if (told.number <= latest_) answers.push_back(outline_for(told.rank, told.number));
  if (told.number < latest_) return;
  std::erase_if(told_, [&](const Told& earlier) {
    return earlier.rank == told.rank && earlier.number == told.number;
  });
  told_.push_back(std::move(told));
}

void CallRecord::hear(int rank, std::uint64_t number, Word word) {
  if (number != asked_ || rank < 0 || rank >= group_.size()) return;
  news_ = true;
  words_[static_cast<std::size_t>(rank)] = std::move(word);
}

void CallRecord::tell_wrong_call(std::uint64_t number, const char* function,
                                 const std::string& reason) {
  std::vector<std::byte> bytes;
  {
    const core::Lock lock(WrongCalls::all().mutex);
    asked_ = number;
    asked_function_ = name_of(function);
    words_.assign(static_cast<std::size_t>(group_.size()), std::nullopt);
    news_ = true;
    core::Writer out =
        begin_message(bytes, Says::WrongCall, context_, number, me_, asked_function_);
    out.u32(static_cast<std::uint32_t>(grid()->world_rank));
    out.text(reason.substr(0, kLongestReason));
  }
  grid()->endpoint->locked([&](core::Engine& engine) {
    for (int rank = 0; rank < group_.size(); ++rank) {
      if (rank != me_) post(engine, static_cast<core::NodeId>(group_.node(rank)), bytes);
    }
  });
}

CallRecord::Answer CallRecord::answer() {
  const core::Lock lock(WrongCalls::all().mutex);
  if (!std::exchange(news_, false)) return Answer::Awaited;
  // Other members with wrong arguments, in this call and in another one.
  std::vector<bool> wrong(words_.size()), elsewhere(words_.size());
  for (const Told& told : told_) {
    if (told.number != asked_) continue;
    (told.function == asked_function_ ? wrong : elsewhere)[static_cast<std::size_t>(told.rank)] =
        true;
  }
  bool missing = false, some_elsewhere = false, some_right = false;
  for (std::size_t rank = 0; rank < words_.size(); ++rank) {
    if (static_cast<int>(rank) == me_) continue;
    if (const auto& word = words_[rank]) {
      if (!word->known) return Answer::Unknown;
      if (word->function != asked_function_) return Answer::OtherCall;
      some_right = true;
    } else if (elsewhere[rank]) {
      some_elsewhere = true;
    } else if (!wrong[rank]) {
      missing = true;
    }
  }
  // A member whose wrong call differs will drop it if others have right arguments. It then says
  // what it begins instead.
  if (missing || (some_right && some_elsewhere)) return Answer::Awaited;
  return some_right ? Answer::Outlines : Answer::AllWrong;
}

std::vector<std::optional<Outline>> CallRecord::take_outlines() {
  const core::Lock lock(WrongCalls::all().mutex);
  asked_ = 0;
  std::vector<std::optional<Outline>> outlines(words_.size());
  for (std::size_t rank = 0; rank < words_.size(); ++rank) {
    if (words_[rank]) outlines[rank] = std::move(words_[rank]->outline);
  }
  words_.clear();
  return outlines;
}

}  // namespace isthmus::face

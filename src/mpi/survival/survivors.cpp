#include "mpi/survival/survivors.hpp"

#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/engine/service.hpp"
#include "core/wire/wire.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/survival/failed_members.hpp"

namespace isthmus::face {
namespace {

// For communicators that this process has not used for agreements, or not made yet.
constexpr std::size_t kMostEarly = 1 << 16;
constexpr std::size_t kMostEarlyBytes = 16 << 20;
constexpr std::size_t kMostEarlyRevoked = 1 << 16;
// Communicators that are freed: as many can still be asked for their last decision.
constexpr std::uint64_t kRemembered = 1024;

/// Revoked, Unknown: the communicator is revoked. A core::Come follows. Unknown answers Revoked, at
/// a process that does not have the communicator.
enum class Says : std::uint8_t { Agreement, Revoked, Unknown };
constexpr std::size_t kHead = 8 + 1 + 4;

bool has_comm(std::uint64_t context) {
  bool found = false;
  find_context(context, [&found](const GridComm&) { found = true; });
  return found;
}

core::Come mark_revoked(std::uint64_t context) {
  core::Come come = core::Come::unknown();
  find_context(context, [&come](const GridComm& comm) { come = revoke_here(comm); });
  return come;
}

void mark_verdict(std::uint64_t context, core::Revocation::Verdict verdict) {
  find_context(context, [verdict](const GridComm& comm) {
    (comm.inter ? *comm.inter->whole : comm).survival.verdict.store(verdict);
  });
}

}  // namespace

/// Those of this process. One mutex guards all: the engine's lock is held before it, and is never
/// taken under it.
class SurvivorsService final : public core::Service {
 public:
  static SurvivorsService& all() {
    static auto* const only = new SurvivorsService;  // threads outlive static objects
    return *only;
  }

  void serve(core::Engine& engine) {
    engine_ = &engine;
    engine.serve(traffic::kSurvivors, *this);
  }

  bool take(core::NodeId from, const core::Envelope&, std::span<const std::byte> bytes) override {
    if (bytes.size() < kHead) return false;
    core::Reader in(bytes.first(kHead));
    const std::uint64_t context = in.u64();
    const auto says = static_cast<Says>(in.u8());
    const auto rank = static_cast<int>(in.u32());
    const std::span<const std::byte> body = bytes.subspan(kHead);
    const core::Lock lock(mutex_);
    if (says == Says::Revoked || says == Says::Unknown) {
      const std::optional<core::Come> come = core::Come::read(body);
      if (!come) return false;
      if (says == Says::Revoked) {
        hear_revoked(context, rank, {from, *come});
      } else {
        hear_unknown(context, {from, *come});
      }
      return true;
    }
    const auto found = all_.find(context);
    if (found != all_.end()) return hand_over(*found->second, rank, from, body);
    keep({context, rank, from, {body.begin(), body.end()}});
    return true;
  }

  void fail(core::NodeId, core::NodeId) override {
    const core::Lock lock(mutex_);
    for (const auto& [context, each] : all_) judge(*each);
  }

  std::shared_ptr<Survivors> of(std::uint64_t context, int me, const core::Group& group) {
    std::shared_ptr<Survivors> found;
    grid()->endpoint->locked([&](core::Engine&) {
      const core::Lock lock(mutex_);
      found = open(context, me, group);
    });
    return found;
  }

  /// Calls `step(out)` and sends what it writes.
  template <class Step>
  void with(const Survivors& survivors, Step&& step) {
    grid()->endpoint->locked([&](core::Engine&) {
      const core::Lock lock(mutex_);
      core::AgreementMessages out;
      step(out);
      post(survivors, out);
    });
  }

  std::optional<core::Decision> take_decision(Survivors& survivors, Survivors::Ticket ticket) {
    const core::Lock lock(mutex_);
    const auto found = survivors.decided_.find(ticket);
    if (found == survivors.decided_.end()) return std::nullopt;
    std::optional<core::Decision> decision = std::move(found->second);
    survivors.decided_.erase(found);
    return decision;
  }
  bool noticed_all(const Survivors& survivors) {
    const core::Lock lock(mutex_);
    return survivors.noticed_ == FailedClusters::all().count();
  }

  void revoke(Survivors& survivors) {
    grid()->endpoint->locked([&](core::Engine&) {
      const core::Lock lock(mutex_);
      spread_revocation(survivors);
    });
  }

  /// A communicator has been made here.
  void entered(const GridComm& comm) {
    {
      const core::Lock lock(mutex_);
      if (!early_revoked_.contains(comm.context)) return;
    }
    const GridComm& all = comm.inter ? *comm.inter->whole : comm;
    revoke(*of(all.context, all.rank, all.group));
  }
  bool has_revoked(const Survivors& survivors, int rank) {
    const core::Lock lock(mutex_);
    return survivors.have_revoked_.has(rank);
  }

 private:
  struct Word {
    core::NodeId from;
    core::Come come;
  };
  struct EarlyRevoked {
    int rank;
    Word word;
  };
  struct Early {
    std::uint64_t context;
    int rank;
    core::NodeId from;
    std::vector<std::byte> body;
  };

  std::shared_ptr<Survivors> open(std::uint64_t context, int me, const core::Group& group)
      REQUIRES(mutex_) {
    std::shared_ptr<Survivors>& place = all_[context];
    if (place) return place;
    place = std::make_shared<Survivors>(context, me, group);
    place->made_ = ++made_;
    const std::shared_ptr<Survivors> opened = place;
    if (made_ % kRemembered == 0) forget_old();
    take_early(*opened);
    return opened;
  }

  void take_early(Survivors& survivors) REQUIRES(mutex_) {
    std::deque<Early> others;
    for (Early& each : std::exchange(early_, {})) {
      if (each.context != survivors.context_) {
        others.push_back(std::move(each));
        continue;
      }
      early_bytes_ -= each.body.size();
      // One that is wrong is dropped: its sender cannot be blamed any more.
      static_cast<void>(hand_over(survivors, each.rank, each.from, each.body));
    }
    early_ = std::move(others);
  }

  void keep(Early early) REQUIRES(mutex_) {
    early_bytes_ += early.body.size();
    early_.push_back(std::move(early));
    while (early_.size() > kMostEarly || early_bytes_ > kMostEarlyBytes) {
      early_bytes_ -= early_.front().body.size();
      early_.pop_front();
    }
  }

  void forget_old() REQUIRES(mutex_) {
    for (auto entry = all_.begin(); entry != all_.end();) {
      const std::shared_ptr<Survivors>& each = entry->second;
      const bool old = each.use_count() == 1 && each->made_ + kRemembered <= made_;
      entry = old && !has_comm(entry->first) ? all_.erase(entry) : std::next(entry);
    }
  }

  bool hand_over(Survivors& survivors, int rank, core::NodeId from, std::span<const std::byte> body)
      REQUIRES(mutex_) {
    if (!survivors.is(rank, from)) return false;
    core::AgreementMessages out;
    if (!survivors.agreements_.take(rank, body, out)) return false;
    survivors.go_on(out);
    post(survivors, out);
    return true;
  }

  static void note_revoked(Survivors& survivors, int rank, const Word& word) {
    if (!survivors.is(rank, word.from)) return;
    survivors.have_revoked_.add(rank);
    survivors.revocation_.hear(rank, word.come);
  }

  void hear_unknown(std::uint64_t context, const Word& word) REQUIRES(mutex_) {
    const auto found = all_.find(context);
    if (found == all_.end()) return;
    Survivors& survivors = *found->second;
    if (const auto rank = survivors.group_.rank_of(static_cast<int>(word.from))) {
      survivors.revocation_.hear(*rank, word.come);
    }
    judge(survivors);
  }

  void hear_revoked(std::uint64_t context, int rank, const Word& word) REQUIRES(mutex_) {
    std::shared_ptr<Survivors> survivors;
    const auto known = all_.find(context);
    if (known != all_.end()) {
      survivors = known->second;
    } else {
      std::optional<std::pair<int, core::Group>> member;
      find_context(context, [&](const GridComm& comm) {
        const GridComm& all = comm.inter ? *comm.inter->whole : comm;
        member = {all.rank, all.group};
      });
      if (member) survivors = open(context, member->first, member->second);
    }
    if (survivors) {
      note_revoked(*survivors, rank, word);
      spread_revocation(*survivors);
      return;
    }
    if (early_revocations_ < kMostEarlyRevoked) {
      early_revoked_[context].push_back({rank, word});
      ++early_revocations_;
    }
    post(word.from, {context, Says::Unknown, 0}, core::Come::unknown().bytes());
  }

  void spread_revocation(Survivors& survivors) REQUIRES(mutex_) {
    take_early_revocations(survivors);
    const core::Come mine = mark_revoked(survivors.context_);
    core::AgreementMessages out;
    for (const int rank : survivors.revocation_.revoke(survivors.agreements_.failed(), mine)) {
      out.push_back({rank, survivors.revocation_.told().bytes()});
    }
    post(survivors, out, Says::Revoked);
    judge(survivors);
  }

  void take_early_revocations(Survivors& survivors) REQUIRES(mutex_) {
    const auto found = early_revoked_.find(survivors.context_);
    if (found == early_revoked_.end()) return;
    for (const EarlyRevoked& each : found->second) note_revoked(survivors, each.rank, each.word);
    early_revocations_ -= found->second.size();
    early_revoked_.erase(found);
    survivors.revocation_.has_answered();
  }

  static void judge(const Survivors& survivors) {
    if (!survivors.revocation_.revoked()) return;
    const FailedClusters& failed = FailedClusters::all();
    mark_verdict(survivors.context_, survivors.revocation_.verdict(members_in(
                                         survivors.group_, failed.first(failed.count()))));
  }

  void post(const Survivors& survivors, const core::AgreementMessages& messages,
            Says says = Says::Agreement) {
    for (const core::AgreementMessage& message : messages) {
      post(static_cast<core::NodeId>(survivors.group_.node(message.to)),
           {survivors.context_, says, survivors.me_}, message.bytes);
    }
  }
  struct Head {
    std::uint64_t context;
    Says says;
    int rank;  // of the sender; nothing in Says::Unknown
  };
  void post(core::NodeId to, const Head& head, std::span<const std::byte> body) {
    std::vector<std::byte> bytes;
    core::Writer out(bytes);
    out.u64(head.context);
    out.u8(static_cast<std::uint8_t>(head.says));
    out.u32(static_cast<std::uint32_t>(head.rank));
    bytes.insert(bytes.end(), body.begin(), body.end());
    const core::Envelope envelope{
        .context = traffic::kSurvivors, .source = grid()->node, .tag = 0, .size = bytes.size()};
    engine_->post(to, envelope, std::move(bytes));
  }

  core::Mutex mutex_;
  core::Engine* engine_ = nullptr;  // used under its own lock
  std::map<std::uint64_t, std::shared_ptr<Survivors>> all_ GUARDED_BY(mutex_);  // by context
  std::uint64_t made_ GUARDED_BY(mutex_) = 0;
  std::deque<Early> early_ GUARDED_BY(mutex_);
  std::size_t early_bytes_ GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, std::vector<EarlyRevoked>> early_revoked_ GUARDED_BY(mutex_);
  std::size_t early_revocations_ GUARDED_BY(mutex_) = 0;  // in all of them
};

void hear_of_survivors() {
  grid()->endpoint->locked([](core::Engine& engine) { SurvivorsService::all().serve(engine); });
  if (!FailedClusters::possible()) return;
  on_entered.store([](const GridComm& comm) { SurvivorsService::all().entered(comm); });
}

Survivors::Survivors(std::uint64_t context, int me, const core::Group& group)
    : context_(context),
      me_(me),
      group_(group),
      agreements_(me, group.size()),
      revocation_(me),
      have_revoked_(group.size()) {}

std::shared_ptr<Survivors> Survivors::of(const GridComm& comm) {
  return SurvivorsService::all().of(comm.context, comm.rank, comm.group);
}

std::shared_ptr<Survivors> Survivors::of(std::uint64_t context, int me, const core::Group& group) {
  return SurvivorsService::all().of(context, me, group);
}

Survivors::Ticket Survivors::begin(std::uint64_t flags, std::uint32_t acknowledged,
                                   std::uint64_t offer) {
  Wanted wanted{flags, members_in(group_, FailedClusters::all().first(acknowledged)), offer};
  Ticket ticket = 0;
  SurvivorsService::all().with(*this, [&](core::AgreementMessages& out) {
    ticket = ++given_;
    waiting_.push_back(std::move(wanted));
    notice_failures(out);
    go_on(out);
  });
  return ticket;
}

std::optional<core::Decision> Survivors::decision(Ticket ticket) {
  SurvivorsService& all = SurvivorsService::all();
  if (!all.noticed_all(*this)) {
    all.with(*this, [this](core::AgreementMessages& out) {
      notice_failures(out);
      go_on(out);
    });
  }
  return all.take_decision(*this, ticket);
}

void Survivors::revoke() { SurvivorsService::all().revoke(*this); }

bool Survivors::has_revoked(int rank) const {
  return SurvivorsService::all().has_revoked(*this, rank);
}

bool Survivors::is(int rank, core::NodeId node) const {
  return rank >= 0 && rank < group_.size() && group_.node(rank) == static_cast<int>(node);
}

void Survivors::notice_failures(core::AgreementMessages& out) {
  const std::uint32_t count = FailedClusters::all().count();
  if (std::exchange(noticed_, count) == count) return;
  agreements_.fail(members_in(group_, FailedClusters::all().first(count)), out);
}

void Survivors::go_on(core::AgreementMessages& out) {
  while (true) {
    if (under_way_) {
      const core::Decision* const decided = agreements_.decision();
      if (decided == nullptr) return;
      decided_.emplace(begun_, *decided);
      under_way_ = false;
    }
    if (waiting_.empty()) return;
    const Wanted next = std::move(waiting_.front());
    waiting_.pop_front();
    ++begun_;
    under_way_ = true;
    agreements_.begin(next.flags, next.acknowledged, next.offer, out);
  }
}

}  // namespace isthmus::face

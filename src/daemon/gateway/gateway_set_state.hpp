// The state of a set of gateways, and of the news from them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/gateway/gateway.hpp"
#include "daemon/gateway/gateway_set.hpp"
#include "daemon/gateway/gateway_thread.hpp"
#include "daemon/log/rare_lines.hpp"

namespace isthmus::daemon {

/// Ends a gateway where it lives.
struct EndOfGateway {
  GatewayThread* thread;
  void operator()(Gateway* gateway) const {
    thread->post([owned = std::unique_ptr<Gateway>(gateway)] {});
  }
};
using GatewayThere = std::unique_ptr<Gateway, EndOfGateway>;

/// One of the set.
struct GatewayMember {
  core::NodeId node;
  std::vector<std::string> addresses;
  std::vector<std::string> listen;  // as the launcher had it
  std::unique_ptr<GatewayThread> thread;
  GatewayThere gateway;

  /// Has its thread do something with it, and waits.
  template <class Work>
  auto ask(Work work) const {
    return thread->call([&] { return std::invoke(work, *gateway); });
  }
  /// Nobody waits.
  template <class Work>
  void want(Work work) const {
    thread->post([work = std::move(work), gateway = gateway.get()]() mutable { work(*gateway); });
  }
};

struct GatewaySet::State {
  /// Takes the news of one gateway on its thread, and passes them on, on the set's thread.
  struct News final : GatewayUser {
    News(State& its, GatewayThread& from, core::NodeId number)
        : set(its), thread(from), node(number) {}
    void joined(const std::string& of, int size) override {
      thread.tell([=, this] {
        if (set.told_joined.insert(of).second) set.user->joined(of, size);
      });
    }
    void abort(int rank, int code, const std::string& message) override {
      thread.tell([=, this] {
        if (!std::exchange(set.told_end, true)) set.user->abort(rank, code, message);
      });
    }
    void fault(const std::string& message, int code) override {
      thread.tell([=, this] { set.fault(node, message, code); });
    }
    void suspect(core::NodeId gateway, std::size_t cluster, const std::string& sentence) override {
      thread.tell([=, this] { set.user->suspect(gateway, cluster, sentence); });
    }
    void warning(const std::string& sentence) override {
      thread.tell([=, this] { set.user->warning(sentence); });
    }
    void abandoned() override {
      thread.tell([this] {
        if (++set.abandoned == set.members.size()) set.user->abandoned();
      });
    }
    void all_done() override {
      thread.tell([this] {
        if (++set.done == set.members.size()) set.user->all_done();
      });
    }
    void agreed(core::NodeId gateway) override {
      thread.tell([=, this] { set.user->agreed(gateway); });
    }
    void silence(const LinkSilence& silence) override {
      thread.tell([=, this] { set.user->silence(silence); });
    }
    void here(const std::string& whereabouts) override {
      thread.tell([=, this] { set.user->here(whereabouts); });
    }
    void ask(core::NodeId process, std::uint64_t number, const std::string& request) override {
      thread.tell([=, this] { set.user->ask(process, number, request); });
    }
    void parted(const std::string& run, const std::string& sentence) override {
      thread.tell([=, this] { set.user->parted(run, sentence); });
    }
    void rejected(const std::string& sentence) override {
      thread.tell([=, this] { set.rejected(sentence); });
    }

    State& set;
    GatewayThread& thread;
    core::NodeId node;
  };

  explicit State(GatewayUser& hears) : user(&hears) {}

  GatewayUser* user;
  std::deque<News> news;  // of each member
  std::vector<GatewayMember> members;
  std::string cluster;  // whose agent this is
  std::string folder;
  std::set<std::string> told_joined;
  log::RareLines<std::string> rejections;
  std::size_t abandoned = 0, done = 0;  // of the members
  bool told_end = false;                // a fault or an abort

  /// The attendance of a cluster, from the gateway that knows most. A rank joins at all gateways or
  /// at none.
  Attendance best(const std::string& of) const;
  /// Throws Failure, that the control message `op` names one of another agent.
  const GatewayMember& member(core::NodeId node, const char* op) const;
  /// The keys are own gateways, which open the links. Throws Failure for one of another agent's, as
  /// `check_own`.
  std::map<core::NodeId, std::vector<GatewayLink>> links_of(
      const std::vector<LinkRequest::Link>& requested, const char* op) const;
  void check_own(core::NodeId node, const char* op, const char* key) const;
  /// Has each gateway link. Calls `done` when all have answered, with the first trouble.
  using Linking = std::function<void(Gateway& gateway, core::NodeId node,
                                     std::function<void(const std::string&)> linked)>;
  void when_all(std::function<void(const std::string&)> done, const Linking& begin);
  void fault(core::NodeId from, const std::string& message, int code);
  void rejected(const std::string& sentence);
};

}  // namespace isthmus::daemon

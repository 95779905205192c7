// A gateway of all clusters, as small as can be, for tests of endpoints: it passes frames on, and
// says what a test has it say.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "net/conduit/conduit_driver.hpp"
#include "net/control/control_body.hpp"
#include "net/door/listener.hpp"

namespace isthmus::net {

/// Has a thread of its own. Other threads call its functions.
class Hub final : public ListenerUser {
 public:
  /// When `processes` have joined, all hear so.
  Hub(core::NodeId self, std::size_t processes) : self_(self), processes_(processes) {
    ListenerConfig config;
    config.self = self;
    config.software = "hub";
    config.credentials = {"job", "secret"};
    listener_ = std::make_unique<Listener>(io_, std::move(config), *this);
    address_ = listener_->listen("tcp:127.0.0.1:0");
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Hub() {
    close();
    work_.reset();
    io_.stop();
    thread_.join();
  }
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  const std::string& address() const { return address_; }
  void say(core::NodeId to, const ControlBody& body) {
    on_io([&] { submit(*guests_.at(to), core::FrameKind::Control, encode_control(body)); });
  }
  /// Frames from and to a process are dropped, after `more` of them.
  void drop(core::NodeId process, std::size_t more = 0) {
    on_io([&] { left_[process] = more; });
  }
  bool drops(core::NodeId process) {
    bool all = false;
    on_io([&] { all = left_.contains(process) && left_[process] == 0; });
    return all;
  }
  /// Frames of processes that it has passed on.
  std::size_t passed_on() {
    std::size_t all = 0;
    on_io([&] { all = passed_on_; });
    return all;
  }
  /// The aborts of processes that it has heard of.
  std::vector<control::Abort> aborts() {
    std::vector<control::Abort> all;
    on_io([&] { all = aborts_; });
    return all;
  }
  /// All conduits end.
  void close() {
    on_io([&] {
      listener_->close();
      for (const auto& [node, guest] : guests_) guest->driver->close();
    });
  }

 private:
  struct Guest final : ConduitUser {
    Guest(Hub& its, core::NodeId number) : hub(its), node(number) {}
    bool frame(const core::InFrame& frame, std::uint16_t hops) override {
      hub.take(*this, frame, hops);
      return true;
    }
    void connected() override {}
    void lost(const Loss& /*loss*/) override {}
    void ended() override { bye(); }
    void dead(const std::string& /*reason*/) override {}
    void bye() {
      driver->conduit().bye();
      asio::post(hub.io_, [its = driver] { its->flush(); });
    }

    Hub& hub;
    core::NodeId node;
    std::shared_ptr<ConduitDriver> driver;
  };

  template <class F>
  void on_io(F f) {
    std::packaged_task<void()> task(std::move(f));
    asio::post(io_, [&task] { task(); });
    task.get_future().get();
  }

  void accepted(Listener::Newcomer newcomer) override {
    auto& guest = guests_[newcomer.node];
    if (!guest) {
      guest = std::make_unique<Guest>(*this, newcomer.node);
      core::ConduitConfig settings;
      settings.self = self_;
      settings.peer = newcomer.node;
      settings.session = random_session();
      settings.software = "hub";
      guest->driver =
          std::make_shared<ConduitDriver>(io_, settings, ConduitDriver::For::Gateway, *guest);
    }
    guest->driver->attach(std::move(newcomer.stream), newcomer.read);
  }

  void submit(Guest& to, core::FrameKind kind, const std::vector<std::byte>& body) {
    core::OutFrame frame;
    frame.kind = kind;
    frame.source = self_;
    frame.destination = to.node;
    frame.payload = body;
    to.driver->conduit().submit(frame);
    asio::post(io_, [driver = to.driver] { driver->flush(); });
  }

  bool passes(core::NodeId process) {
    const auto found = left_.find(process);
    if (found == left_.end()) return true;
    if (found->second == 0) return false;
    --found->second;
    return true;
  }

  void take(const Guest& from, const core::InFrame& frame, std::uint16_t hops) {
    if (core::is_routed(frame.kind)) {
      const auto to = guests_.find(frame.destination);
      if (to == guests_.end() || !passes(frame.source) || !passes(frame.destination)) return;
      to->second->driver->conduit().forward(frame, hops);
      ++passed_on_;
      asio::post(io_, [driver = to->second->driver] { driver->flush(); });
      return;
    }
    const auto said = decode_control(frame.body);
    if (!said) return;
    if (const auto* abort = std::get_if<control::Abort>(&*said)) aborts_.push_back(*abort);
    if (!std::holds_alternative<control::Joined>(*said)) return;
    joined_.insert(from.node);
    if (joined_.size() < processes_) return;
    for (const auto& [node, guest] : guests_) submit(*guest, core::FrameKind::Ready, {});
  }

  const core::NodeId self_;
  const std::size_t processes_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  std::unique_ptr<Listener> listener_;
  std::string address_;
  std::map<core::NodeId, std::unique_ptr<Guest>> guests_;
  std::set<core::NodeId> joined_;
  std::map<core::NodeId, std::size_t> left_;  // frames that still pass
  std::size_t passed_on_ = 0;
  std::vector<control::Abort> aborts_;
  std::thread thread_;
};

}  // namespace isthmus::net

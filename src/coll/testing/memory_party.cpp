#include "coll/testing/memory_party.hpp"

#include <algorithm>
#include <numeric>

#include "coll/engine/buffer.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

// Half the sends are eager (copied at once), half read the sender's memory at delivery. So an
// algorithm that reuses or frees it too early is found.
struct MemorySend : Operation {
  MemorySend(MemoryGrid& grid_, std::shared_ptr<MemoryGrid::Message> message_, bool eager_)
      : grid(grid_), message(std::move(message_)), eager(eager_) {}
  ~MemorySend() override {
    if (!seen) grid.breach("a send was dropped before it was done");
  }
  bool poll() override {
    if (!seen && (message->taken || (eager && grid.chance(50)))) {
      seen = true;
      grid.last_progress_ = grid.tick_;
    }
    return seen;
  }
  MemoryGrid& grid;
  std::shared_ptr<MemoryGrid::Message> message;
  bool eager;
  bool seen = false;
};

MemoryProgress::MemoryProgress(MemoryGrid& grid_) : grid(grid_) { grid.under_way_.push_back(this); }
MemoryProgress::~MemoryProgress() { std::erase(grid.under_way_, this); }

struct MemoryRecv : MemoryProgress {
  MemoryRecv(MemoryGrid& grid_, MemoryParty& party_, MemoryGrid::Lane& lane_, Bytes data_)
      : MemoryProgress(grid_), party(party_), lane(lane_), number(lane_.posted++), data(data_) {}
  ~MemoryRecv() override {
    if (!done) grid.breach("a receive was dropped before it was done");
  }
  bool poll() override {
    progress();
    if (done) party.depth = std::max(party.depth, depth);
    return done;
  }
  void progress() override {
    if (done) return;
    const auto found = lane.messages.find(number);
    if (found == lane.messages.end() || grid.tick_ < found->second->ready) return;
    auto& message = *found->second;
    if (message.data.size() != data.size()) {
      grid.breach("a message of " + std::to_string(message.data.size()) +
                  " bytes met a receive of " + std::to_string(data.size()));
      return;
    }
    copy(message.data, data);
    message.taken = true;
    depth = message.depth;
    lane.messages.erase(found);
    grid.last_progress_ = grid.tick_;
    done = true;
  }
  MemoryParty& party;
  MemoryGrid::Lane& lane;
  std::size_t number;
  Bytes data;
  int depth = 0;
  bool done = false;
};

const Layout& MemoryParty::layout() const { return grid_.layout(); }
const Network& MemoryParty::network() const { return grid_.network; }
bool MemoryParty::reproducible() const { return grid_.reproducible; }
bool MemoryParty::attended() const { return grid_.chance(50); }

Pending MemoryParty::send(int rank, int tag, ConstBytes data) {
  return send(rank, tag, data, grid_.chance(50));
}

Pending MemoryParty::send_synchronous(int rank, int tag, ConstBytes data) {
  if (layout().cluster_of(rank) != layout().cluster_of(rank_)) {
    grid_.breach("a synchronous send to another cluster");
  }
  return send(rank, tag, data, false);
}

Pending MemoryParty::send(int rank, int tag, ConstBytes data, bool eager) {
  auto message = std::make_shared<MemoryGrid::Message>();
  message->data = data;
  if (eager) {
    message->copy.assign(data.begin(), data.end());
    message->data = message->copy;
  }
  message->ready = grid_.soon();
  const bool crosses = layout().cluster_of(rank) != layout().cluster_of(rank_);
  message->depth = depth + (crosses ? 1 : 0);
  if (crosses) {
    ++grid_.crossings_;
    grid_.bytes_crossed_ += data.size();
    grid_.bytes_between_[{grid_.layout_.cluster_of(rank_), grid_.layout_.cluster_of(rank)}] +=
        data.size();
  }
  auto& lane = grid_.lane(rank_, rank, tag);
  lane.messages[lane.sent++] = message;
  return Pending(std::make_unique<MemorySend>(grid_, message, eager));
}

Pending MemoryParty::recv(int rank, int tag, Bytes data) {
  return Pending(std::make_unique<MemoryRecv>(grid_, *this, grid_.lane(rank, rank_, tag), data));
}

MemoryGrid::MemoryGrid(std::span<const int> cluster_of_rank, std::uint64_t seed)
    : layout_(cluster_of_rank), random_(seed) {
  for (int r = 0; r < layout_.size(); ++r) parties_.emplace_back(*this, r);
  slots_.resize(static_cast<std::size_t>(layout_.clusters()));
}

void MemoryGrid::share_memory() {
  network = Network::of_one_host();
  memory_.emplace(layout_.size());
  for (auto& party : parties_) {
    party.commons_.emplace(memory_->bytes(), layout_.size(), party.rank(), sleep_,
                           Commons::Codes{.disagreement = 1, .absence = 2});
  }
}

MemoryGrid::Lane& MemoryGrid::lane(int from, int to, int tag) {
  if (tag < 0 || tag >= tags_of(layout_.clusters())) {
    breach("tag " + std::to_string(tag) + " is not among those of so many clusters");
  }
  return lanes_[{from, to, tag}];
}

void MemoryGrid::breach(const std::string& sentence) {
  if (breach_.empty()) breach_ = sentence;
}

std::size_t MemoryGrid::bytes_between(int from, int to) const {
  const auto found = bytes_between_.find({from, to});
  return found == bytes_between_.end() ? 0 : found->second;
}

int MemoryGrid::depth() const {
  int deepest = 0;
  for (const auto& party : parties_) deepest = std::max(deepest, party.depth);
  return deepest;
}

void MemoryGrid::run(const std::function<Task(Party&)>& body) {
  std::vector<Task> tasks;
  tasks.reserve(parties_.size());
  for (auto& party : parties_) tasks.push_back(body(party));
  std::vector<std::size_t> running(tasks.size());
  std::iota(running.begin(), running.end(), std::size_t{0});
  last_progress_ = tick_;
  while (!running.empty()) {
    ++tick_;
    const std::size_t pick = random_() % running.size();
    if (tasks[running[pick]].step()) {
      running[pick] = running.back();
      running.pop_back();
      last_progress_ = tick_;
    }
    if (!under_way_.empty()) under_way_[random_() % under_way_.size()]->progress();
    if (!breach_.empty()) throw std::logic_error(breach_);
    if (tick_ - last_progress_ > 2000 + 100 * running.size()) {
      std::string ranks;
      for (const std::size_t r : running) ranks += " " + std::to_string(r);
      breach_ = "deadlock";
      throw std::logic_error("deadlock: unfinished ranks" + ranks);
    }
  }
  tasks.clear();
  if (!breach_.empty()) throw std::logic_error(breach_);
  for (const auto& [key, lane] : lanes_) {
    if (!lane.messages.empty()) throw std::logic_error("a message was never received");
  }
  for (const auto& slots : slots_) {
    for (const auto& [number, slot] : slots) {
      for (const auto& part : slot->parts) {
        if (!part.joined) throw std::logic_error("a member skipped " + slot->what);
      }
    }
  }
}

}  // namespace isthmus::coll

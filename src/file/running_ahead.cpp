#include "file/running_ahead.hpp"

#include <algorithm>
#include <utility>

#include "file/error.hpp"

namespace isthmus::file {
namespace {

// The reach doubles with each read that follows another, up to what 5 Gbit/s carry in 13 ms.
// Larger reads have enough under way by themselves.
constexpr std::size_t kLeastBlock = std::size_t{1} << 17, kMostBlock = std::size_t{1} << 22;
constexpr std::size_t kMostReach = std::size_t{1} << 23;

/// A read whose first bytes are in blocks. If those end early (the file has an end there, or had
/// one), the rest is requested again.
class FromBlocks final : public UnderWay {
 public:
  struct Part {
    ReadAhead::BlockRef block;
    std::size_t from, length;  // bytes of the block
  };

  FromBlocks(Caller& caller, std::uint64_t file, std::int64_t position, std::span<std::byte> to,
             std::vector<Part> parts)
      : caller_(caller), file_(file), position_(position), to_(to), parts_(std::move(parts)) {
    std::size_t at = 0;
    for (const Part& part : parts_) at += part.length;
    if (at < to_.size()) ask(at);
  }

  bool done() override {
    while (next_ < parts_.size()) {
      if (!parts_[next_].block->ended()) return false;
      copy(parts_[next_]);
    }
    if (!rest_ || !rest_->done()) return !rest_;
    // If blocks ended early, the bytes requested behind them do not belong to the answer.
    if (asked_from_ > copied_) ask(copied_);
    return rest_->done();
  }
  std::size_t finish() override { return rest_ ? copied_ + rest_->result() : copied_; }

 private:
  void copy(const Part& part) {
    const std::size_t there = std::min(part.block->there(), part.from + part.length);
    const std::size_t length = there > part.from ? there - part.from : 0;
    std::copy_n(part.block->bytes.begin() + static_cast<std::ptrdiff_t>(part.from), length,
                to_.begin() + static_cast<std::ptrdiff_t>(copied_));
    copied_ += length;
    ++next_;
    if (length == part.length) return;
    next_ = parts_.size();
    if (!rest_) ask(copied_);
  }
  void ask(std::size_t at) {
    asked_from_ = at;
    rest_ = caller_.read(file_, position_ + static_cast<std::int64_t>(at), to_.subspan(at));
  }

  Caller& caller_;
  std::uint64_t file_;
  std::int64_t position_;
  std::span<std::byte> to_;
  std::vector<Part> parts_;
  std::size_t next_ = 0, copied_ = 0, asked_from_ = 0;
  ExchangeRef rest_;
};

}  // namespace

void WritesBehind::check() {
  while (!under_way_.empty() && under_way_.front()->done()) {
    const ExchangeRef first = std::move(under_way_.front());
    under_way_.pop_front();
    if (!first->failed()) continue;
    try {
      first->result();
    } catch (const Error& error) {
      throw Error(error.number, std::string("a write before this one failed: ") + error.what());
    }
  }
}

void WritesBehind::settle(Caller& caller) {
  for (const ExchangeRef& each : under_way_) caller.wait(*each);
  try {
    check();
  } catch (const Error&) {
    under_way_.clear();  // the first error stands for all
    throw;
  }
}

std::unique_ptr<UnderWay> ReadAhead::read(std::uint64_t file, std::int64_t position,
                                          std::span<std::byte> to) {
  std::vector<FromBlocks::Part> parts;
  std::size_t at = 0;
  while (at < to.size() && !blocks_.empty()) {
    const BlockRef block = blocks_.front();
    const auto from =
        static_cast<std::size_t>(position + static_cast<std::int64_t>(at) - block->position);
    const std::size_t length = std::min(to.size() - at, block->bytes.size() - from);
    parts.push_back({block, from, length});
    at += length;
    if (from + length == block->bytes.size()) blocks_.pop_front();
  }
  auto made = std::make_unique<FromBlocks>(*caller_, file, position, to, std::move(parts));
  if (!to.empty() && to.size() <= kMostBlock) {
    ask_more(file, position + std::ssize(to), std::max(to.size(), kLeastBlock));
  }
  return made;
}

void ReadAhead::ask_more(std::uint64_t file, std::int64_t from, std::size_t each) {
  const std::int64_t ahead = blocks_.empty() ? 0 : blocks_.back()->end() - from;
  // The file has no data behind its end.
  for (const BlockRef& block : blocks_) {
    if (block->ended() && block->there() < block->bytes.size()) return;
  }
  reach_ = std::clamp(2 * reach_, 2 * each, std::max(2 * each, kMostReach));
  for (std::int64_t at = from + ahead; at - from < static_cast<std::int64_t>(reach_);
       at += static_cast<std::int64_t>(each)) {
    auto block = std::make_shared<Block>();
    block->position = at;
    block->bytes.resize(each);
    block->exchange = caller_->read(file, at, block->bytes, block);
    blocks_.push_back(std::move(block));
  }
}

void ReadAhead::drop() {
  for (const BlockRef& block : blocks_) {
    if (!block->ended()) caller_->cancel(block->exchange);
  }
  blocks_.clear();
  reach_ = 0;
}

}  // namespace isthmus::file

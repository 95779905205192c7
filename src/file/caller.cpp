#include "file/caller.hpp"

#include <utility>

#include "file/error.hpp"

namespace isthmus::file {

std::size_t Exchange::result() const {
  if (error_ != 0) throw Error(error_, sentence_);
  return got_;
}

std::int64_t Caller::call(const Request& request) {
  Call made;
  enter_([&](const Send& send) {
    if (lost_ != 0) {
      made = {true, lost_, 0, why_lost_};
      return;
    }
    Request numbered = request;
    numbered.number = ++last_;
    calls_.emplace(numbered.number, &made);
    send(encode(numbered));
  });
  core::Lock lock(mutex_);
  come_.wait(lock, [&] { return made.done; });
  if (made.error != 0) throw Error(made.error, made.sentence);
  return made.value;
}

ExchangeRef Caller::read(std::uint64_t file, std::int64_t position, std::span<std::byte> to,
                         std::shared_ptr<void> keeps) {
  auto made = std::make_shared<Exchange>();
  made->op_ = Op::Read;
  made->file_ = file;
  made->position_ = position;
  made->to_ = to.data();
  made->size_ = made->got_ = to.size();
  made->keeps_ = std::move(keeps);
  begin(made);
  return made;
}

ExchangeRef Caller::write(std::uint64_t file, std::int64_t position,
                          std::span<const std::byte> from) {
  auto made = std::make_shared<Exchange>();
  made->op_ = Op::Write;
  made->file_ = file;
  made->position_ = position;
  made->from_ = from.data();
  made->size_ = made->got_ = from.size();
  begin(made);
  return made;
}

void Caller::begin(const ExchangeRef& exchange) {
  if (exchange->size_ == 0) {
    exchange->sent_ = exchange->done_ = true;
    return;
  }
  bool more = true;
  enter_([&](const Send&) {
    if (lost_ != 0) return fail(*exchange);
    waiting_.push_back(exchange);
  });
  // One piece at a time: others want their turn.
  while (more) enter_([&](const Send& send) { more = ask(send); });
}

// Sends the next request that the window has room for. False: it has no room, or no request waits.
bool Caller::ask(const Send& send) {
  if (waiting_.empty() || pieces_.size() >= kMostRequests) return false;
  const ExchangeRef first = waiting_.front();
  Exchange& exchange = *first;
  const std::size_t length = std::min(kMostData, exchange.size_ - exchange.asked_);
  if (under_way_ > 0 && under_way_ + length > window_) return false;
  Request request;
  request.number = ++last_;
  request.op = exchange.op_;
  request.file = exchange.file_;
  request.a = exchange.position_ + static_cast<std::int64_t>(exchange.asked_);
  if (exchange.op_ == Op::Read) {
    request.b = static_cast<std::int64_t>(length);
  } else {
    request.data = {exchange.from_ + exchange.asked_, length};
  }
  pieces_.emplace(request.number, Piece{first, exchange.asked_, length});
  send(encode(request));
  under_way_ += length;
  ++exchange.pieces_;
  exchange.asked_ += length;
  if (exchange.asked_ == exchange.size_) {
    waiting_.pop_front();
    exchange.sent_.store(true, std::memory_order_release);
  }
  return !waiting_.empty();
}

bool Caller::take(std::span<const std::byte> message, const Send& send) {
  const auto reply = decode_reply(message);
  if (!reply) return false;
  if (const auto found = pieces_.find(reply->number); found != pieces_.end()) {
    const Piece piece = std::move(found->second);
    pieces_.erase(found);
    take_piece(piece, *reply);
    while (ask(send)) continue;
    return true;
  }
  const auto found = calls_.find(reply->number);
  if (found == calls_.end()) return false;
  const core::Lock lock(mutex_);
  *found->second = {true, reply->error, reply->value, reply->sentence};
  calls_.erase(found);
  come_.notify_all();
  return true;
}

void Caller::take_piece(const Piece& piece, const Reply& reply) {
  Exchange& exchange = *piece.exchange;
  under_way_ -= piece.length;
  --exchange.pieces_;
  if (reply.error != 0 && exchange.error_ == 0) {
    exchange.error_ = reply.error;
    exchange.sentence_ = reply.sentence;
    std::erase(waiting_, piece.exchange);  // no further requests
  } else if (exchange.op_ == Op::Read) {
    const std::size_t there = std::min(reply.data.size(), piece.length);
    std::copy_n(reply.data.begin(), there, exchange.to_ + piece.at);
    // The file ended before the end of the request.
    if (there < piece.length) exchange.got_ = std::min(exchange.got_, piece.at + there);
  }
  const bool all_asked = exchange.asked_ == exchange.size_ || exchange.error_ != 0;
  if (exchange.pieces_ == 0 && all_asked) end(exchange);
}

void Caller::end(Exchange& exchange) {
  const core::Lock lock(mutex_);
  exchange.keeps_ = nullptr;
  exchange.sent_.store(true, std::memory_order_release);
  exchange.done_.store(true, std::memory_order_release);
  come_.notify_all();
}

void Caller::fail(Exchange& exchange) {
  if (exchange.done()) return;
  if (exchange.error_ == 0) {
    exchange.error_ = lost_;
    exchange.sentence_ = why_lost_;
  }
  exchange.pieces_ = 0;
  end(exchange);
}

void Caller::lose(int error, const std::string& sentence) {
  enter_([&](const Send&) {
    lost_ = error;
    why_lost_ = sentence;
    for (const auto& [number, piece] : std::exchange(pieces_, {})) fail(*piece.exchange);
    for (const ExchangeRef& exchange : std::exchange(waiting_, {})) fail(*exchange);
    under_way_ = 0;
    const core::Lock lock(mutex_);
    for (const auto& [number, call] : std::exchange(calls_, {})) *call = {true, error, 0, sentence};
    come_.notify_all();
  });
}

void Caller::cancel(const ExchangeRef& exchange) {
  enter_([&](const Send&) {
    if (std::erase(waiting_, exchange) == 0) return;
    exchange->size_ = exchange->asked_;
    exchange->got_ = std::min(exchange->got_, exchange->asked_);
    if (exchange->pieces_ == 0) end(*exchange);
  });
}

void Caller::wait(const Exchange& exchange) {
  core::Lock lock(mutex_);
  come_.wait(lock, [&] { return exchange.done(); });
}

}  // namespace isthmus::file

#include "daemon/control/control.hpp"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "core/base/any_json.hpp"

namespace isthmus::daemon {
namespace {

// The beginning of a line, printable, for error messages.
std::string excerpt(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, 60)) {
    text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  }
  if (line.size() > 60) text += "...";
  return text;
}

}  // namespace

void ControlMessage::wipe_secrets() { core::wipe_secrets(body); }

void ControlDecoder::feed(std::string_view bytes) {
  if (consumed_ > 0) {
    buffer_.erase(0, consumed_);
    scanned_ -= std::min(scanned_, consumed_);
    consumed_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<ControlMessage> ControlDecoder::next() {
  if (!failed_.empty()) throw ControlError(failed_);
  if (!pending_) {
    scanned_ = std::max(scanned_, consumed_);
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t line_size = (end == std::string::npos ? buffer_.size() : end) - consumed_;
    if (line_size > kMaxLine) {
      fail(fmt::format("a control message is longer than {} bytes; it begins: {}", kMaxLine,
                       excerpt(std::string_view(buffer_).substr(consumed_))));
    }
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      return std::nullopt;
    }
    const std::size_t begin = std::exchange(consumed_, end + 1);
    const std::string_view line = std::string_view(buffer_).substr(begin, line_size);
    const bool secret = line.find(R"("secret")") != std::string_view::npos;
    read_line(line);
    if (secret) explicit_bzero(buffer_.data() + begin, line_size);
  }
  if (buffer_.size() - consumed_ < wanted_) return std::nullopt;
  pending_->bytes = buffer_.substr(consumed_, wanted_);
  consumed_ += std::exchange(wanted_, 0);
  return std::exchange(pending_, std::nullopt);
}

void ControlDecoder::read_line(std::string_view line) {
  auto body = core::parse_any(line);
  if (!body.is_object()) fail("a control message is not a JSON object: " + excerpt(line));
  const auto op = body.find("op");
  if (op == body.end() || !op->is_string()) {
    fail("a control message has no 'op': " + excerpt(line));
  }
  if (const auto n = body.find("n"); n != body.end()) {
    if (!n->is_number_unsigned() || n->get<std::uint64_t>() > kMaxBytes) {
      fail(fmt::format("the control message '{}' has n = {}; allowed is 0 to {}",
                       excerpt(op->get<std::string>()), excerpt(core::dump_any(*n)), kMaxBytes));
    }
    wanted_ = n->get<std::size_t>();
  }
  pending_.emplace(ControlMessage{std::move(body), {}});
}

void ControlDecoder::fail(const std::string& sentence) {
  failed_ = sentence;
  buffer_.clear();
  consumed_ = scanned_ = 0;
  throw ControlError(failed_);
}

std::string encode(nlohmann::json body, std::string_view bytes) {
  if (!bytes.empty()) body["n"] = bytes.size();
  std::string text = core::dump_any(std::move(body));
  text += '\n';
  text.append(bytes);
  return text;
}

}  // namespace isthmus::daemon

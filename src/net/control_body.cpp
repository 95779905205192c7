#include "net/control_body.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace isthmus::net {

using nlohmann::json;

namespace {

// The library would convert any number, whether it fits or not.
template <class T>
T number(const json& value) {
  if (value.is_number_unsigned() && std::in_range<T>(value.get<std::uint64_t>())) {
    return static_cast<T>(value.get<std::uint64_t>());
  }
  if (value.is_number_integer() && !value.is_number_unsigned() &&
      std::in_range<T>(value.get<std::int64_t>())) {
    return static_cast<T>(value.get<std::int64_t>());
  }
  throw std::out_of_range("not a number of its kind");
}

}  // namespace

DirectCount& DirectCount::operator+=(const DirectCount& more) {
  conduits += more.conduits;
  messages += more.messages;
  bytes += more.bytes;
  wire_bytes += more.wire_bytes;
  ucx += more.ucx;
  streams += more.streams;
  repeated += more.repeated;
  return *this;
}

DirectCount DirectCount::operator-(const DirectCount& less) const {
  return {conduits - less.conduits,     messages - less.messages, bytes - less.bytes,
          wire_bytes - less.wire_bytes, ucx - less.ucx,           streams - less.streams,
          repeated - less.repeated};
}

std::vector<std::byte> encode_control(const ControlBody& body) {
  json value;
  // A sentence; cut so that it fits whatever its bytes become as JSON.
  const std::string message = body.message.substr(0, 4000);
  switch (body.what) {
    case ControlBody::What::Joined:
      value["joined"] = body.node;
      if (body.part != 0) value["part"] = body.part;
      break;
    case ControlBody::What::Abort:
      value["abort"] = {{"rank", body.rank}, {"code", body.code}, {"message", message}};
      break;
    case ControlBody::What::Fault:
      value["fault"] = {{"code", body.code}, {"message", message}};
      break;
    case ControlBody::What::Lost:
      value["lost"] = {{"cluster", body.cluster}, {"message", message}, {"rank", body.rank}};
      break;
    case ControlBody::What::Without:
      value["without"] = {{"rank", body.rank}, {"gateway", body.node}};
      break;
    case ControlBody::What::Count:
      value["count"] = true;
      break;
    case ControlBody::What::Crossed:
      value["crossed"] = {
          {"cluster", body.cluster},         {"conduits", body.crossed.conduits},
          {"ucx", body.crossed.ucx},         {"messages", body.crossed.messages},
          {"bytes", body.crossed.bytes},     {"wire_bytes", body.crossed.wire_bytes},
          {"streams", body.crossed.streams}, {"lost_bytes", body.crossed.repeated}};
      break;
    case ControlBody::What::Link:
      value["link"] = {{"rate", body.rate},
                       {"streams", body.streams},
                       {"patience", body.patience.count()},
                       {"congestion", body.congestion},
                       {"compress", body.compress}};
      break;
    case ControlBody::What::Silent:
      value["silent"] = {{"cluster", body.cluster}, {"ask", body.ask}};
      break;
    case ControlBody::What::Heard:
      value["heard"] = {{"cluster", body.cluster}};
      break;
    case ControlBody::What::Where:
      value["where"] = {{"traces", body.traces}};
      break;
    case ControlBody::What::Here:
      value["here"] = message;
      break;
    case ControlBody::What::Other:
      value["other"] = {{"cluster", body.cluster}};
      break;
    case ControlBody::What::Grown:
      value["grown"] = message;
      break;
    case ControlBody::What::Parted:
      value["parted"] = {{"run", body.run}, {"message", message}};
      break;
    case ControlBody::What::Ask:
      value["ask"] = {{"number", body.number}, {"request", body.message}};
      break;
    case ControlBody::What::Answer:
      value["answer"] = {{"number", body.number}, {"reply", body.message}};
      break;
  }
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::optional<ControlBody> decode_control(std::span<const std::byte> bytes) {
  // A deeply nested text would exhaust the parser's stack; ours have two levels.
  int depth = 0;
  const auto too_deep = [&depth](int level, json::parse_event_t, json&) {
    depth = std::max(depth, level);
    return level <= 4;
  };
  const auto* first = reinterpret_cast<const char*>(bytes.data());
  const json value = json::parse(first, first + bytes.size(), too_deep, false);
  if (!value.is_object() || depth > 4) return std::nullopt;
  try {
    ControlBody body;
    if (value.contains("joined")) {
      body.what = ControlBody::What::Joined;
      body.node = number<core::NodeId>(value.at("joined"));
      if (value.contains("part")) body.part = number<int>(value.at("part"));
      return body;
    }
    if (value.contains("link")) {
      body.what = ControlBody::What::Link;
      body.rate = number<std::uint64_t>(value.at("link").at("rate"));
      body.streams = number<int>(value.at("link").at("streams"));
      body.patience =
          std::chrono::milliseconds(number<std::uint32_t>(value.at("link").at("patience")));
      body.congestion = value.at("link").value("congestion", "");
      body.compress = value.at("link").value("compress", false);
      return body;
    }
    if (value.contains("lost")) {
      body.what = ControlBody::What::Lost;
      body.cluster = number<std::size_t>(value.at("lost").at("cluster"));
      body.message = value.at("lost").at("message").get<std::string>();
      body.rank = number<int>(value.at("lost").at("rank"));
      return body;
    }
    if (value.contains("without")) {
      body.what = ControlBody::What::Without;
      body.rank = number<int>(value.at("without").at("rank"));
      body.node = number<core::NodeId>(value.at("without").at("gateway"));
      return body;
    }
    if (value.contains("silent")) {
      body.what = ControlBody::What::Silent;
      body.cluster = number<std::size_t>(value.at("silent").at("cluster"));
      body.ask = value.at("silent").at("ask").get<bool>();
      return body;
    }
    if (value.contains("heard") || value.contains("other")) {
      const bool heard = value.contains("heard");
      body.what = heard ? ControlBody::What::Heard : ControlBody::What::Other;
      body.cluster = number<std::size_t>(value.at(heard ? "heard" : "other").at("cluster"));
      return body;
    }
    if (value.contains("where")) {
      body.what = ControlBody::What::Where;
      body.traces = value.at("where").at("traces").get<bool>();
      return body;
    }
    if (value.contains("grown")) {
      body.what = ControlBody::What::Grown;
      body.message = value.at("grown").get<std::string>();
      return body;
    }
    if (value.contains("parted")) {
      body.what = ControlBody::What::Parted;
      body.run = value.at("parted").at("run").get<std::string>();
      body.message = value.at("parted").at("message").get<std::string>();
      return body;
    }
    if (value.contains("here")) {
      body.what = ControlBody::What::Here;
      body.message = value.at("here").get<std::string>();
      return body;
    }
    if (value.contains("ask") || value.contains("answer")) {
      const bool ask = value.contains("ask");
      const json& inner = value.at(ask ? "ask" : "answer");
      body.what = ask ? ControlBody::What::Ask : ControlBody::What::Answer;
      body.number = number<std::uint64_t>(inner.at("number"));
      body.message = inner.at(ask ? "request" : "reply").get<std::string>();
      return body;
    }
    if (value.contains("count")) {
      body.what = ControlBody::What::Count;
      return body;
    }
    if (value.contains("crossed")) {
      const json& inner = value.at("crossed");
      body.what = ControlBody::What::Crossed;
      body.cluster = number<std::size_t>(inner.at("cluster"));
      body.crossed.conduits = number<std::uint64_t>(inner.at("conduits"));
      body.crossed.ucx = number<std::uint64_t>(inner.value("ucx", nlohmann::json(0)));
      body.crossed.messages = number<std::uint64_t>(inner.at("messages"));
      body.crossed.bytes = number<std::uint64_t>(inner.at("bytes"));
      body.crossed.wire_bytes = number<std::uint64_t>(inner.at("wire_bytes"));
      body.crossed.streams = number<std::uint64_t>(inner.value("streams", nlohmann::json(0)));
      body.crossed.repeated = number<std::uint64_t>(inner.value("lost_bytes", nlohmann::json(0)));
      return body;
    }
    const bool abort = value.contains("abort");
    if (!abort && !value.contains("fault")) return std::nullopt;
    const json& inner = value.at(abort ? "abort" : "fault");
    body.what = abort ? ControlBody::What::Abort : ControlBody::What::Fault;
    body.code = number<int>(inner.at("code"));
    body.message = inner.at("message").get<std::string>();
    if (abort) body.rank = number<int>(inner.at("rank"));
    return body;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace isthmus::net

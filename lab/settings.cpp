#include "lab/settings.hpp"

#include <arpa/inet.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace isthmus::lab {
namespace {

using nlohmann::json;

[[noreturn]] void wrong(const std::string& key, const json& value, const std::string& wanted) {
  throw std::invalid_argument("\"" + key + "\" must be " + wanted + "; it is " +
                              value.dump().substr(0, 80));
}

double number(const std::string& key, const json& value, double most, const std::string& wanted) {
  if (!value.is_number()) wrong(key, value, wanted);
  const auto found = value.get<double>();
  if (!(found >= 0 && found <= most)) wrong(key, value, wanted);
  return found;
}

bool truth(const std::string& key, const json& value) {
  if (!value.is_boolean()) wrong(key, value, "true or false");
  return value.get<bool>();
}

Nanos seconds(const std::string& key, const json& value) {
  return std::llround(number(key, value, 60, "seconds from 0 to 60") * 1e9);
}

std::optional<std::vector<std::uint32_t>> addresses(const std::string& key, const json& value) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_array() || value.size() > 1000) wrong(key, value, "null or a list of addresses");
  std::vector<std::uint32_t> found;
  for (const json& item : value) {
    in_addr address{};
    if (!item.is_string() || inet_pton(AF_INET, item.get<std::string>().c_str(), &address) != 1) {
      wrong(key, item, "a list of IPv4 addresses");
    }
    found.push_back(ntohl(address.s_addr));
  }
  return found;
}

void change(ChannelSettings& settings, const std::string& key, const json& value) {
  if (key == "delay") {
    settings.delay = seconds(key, value);
  } else if (key == "jitter") {
    settings.jitter = seconds(key, value);
  } else if (key == "rate") {
    settings.rate = number(key, value, 1e13, "bits per second, 0 for no limit");
  } else if (key == "queue") {
    settings.queue =
        static_cast<std::uint64_t>(number(key, value, 1e12, "a number of bytes, 0 for no limit"));
  } else if (key == "loss") {
    settings.loss = number(key, value, 1, "a probability from 0 to 1");
  } else if (key == "duplicate") {
    settings.duplicate = number(key, value, 1, "a probability from 0 to 1");
  } else if (key == "corrupt") {
    settings.corrupt =
        static_cast<std::uint64_t>(number(key, value, 1e12, "a number of bytes, 0 for never"));
  } else if (key == "reorder") {
    settings.reorder = truth(key, value);
  } else if (key == "up") {
    settings.up = truth(key, value);
  } else if (key == "overhead") {
    settings.overhead =
        static_cast<std::uint32_t>(number(key, value, 1000, "from 0 to 1000 bytes"));
  } else if (key == "open") {
    settings.open = addresses(key, value);
  } else {
    throw std::invalid_argument("there is no setting \"" + key.substr(0, 40) + "\"");
  }
}

std::string dotted(std::uint32_t address) {
  const in_addr network{htonl(address)};
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &network, text, sizeof text);
  return text;
}

}  // namespace

LinkSettings changed(const LinkSettings& settings, const json& changes) {
  if (!changes.is_object()) throw std::invalid_argument("settings must be an object");
  for (const auto& [name, part] : changes.items()) {
    if (name != "both" && name != "ab" && name != "ba") {
      throw std::invalid_argument("there is no direction \"" + name.substr(0, 40) +
                                  "\": \"both\", \"ab\" or \"ba\"");
    }
    if (!part.is_object()) throw std::invalid_argument("\"" + name + "\" must be an object");
  }
  LinkSettings result = settings;
  for (const char* name : {"both", "ab", "ba"}) {
    const auto part = changes.find(name);
    if (part == changes.end()) continue;
    for (const auto& [key, value] : part->items()) {
      if (*name == 'b' && name[1] == 'o') {
        for (auto& direction : result) change(direction, key, value);
      } else {
        change(result[*name == 'a' ? 0 : 1], key, value);
      }
    }
  }
  return result;
}

json to_json(const ChannelSettings& settings) {
  json open = nullptr;
  if (settings.open) {
    open = json::array();
    for (const auto address : *settings.open) open.push_back(dotted(address));
  }
  return {{"delay", static_cast<double>(settings.delay) / 1e9},
          {"jitter", static_cast<double>(settings.jitter) / 1e9},
          {"rate", settings.rate},
          {"queue", settings.queue},
          {"loss", settings.loss},
          {"duplicate", settings.duplicate},
          {"corrupt", settings.corrupt},
          {"reorder", settings.reorder},
          {"up", settings.up},
          {"overhead", settings.overhead},
          {"open", open}};
}

json to_json(const ChannelCounters& counters) {
  return {{"packets", counters.packets},
          {"segments", counters.segments},
          {"bytes", counters.bytes},
          {"delivered", counters.delivered},
          {"duplicated", counters.duplicated},
          {"corrupted", counters.corrupted},
          {"dropped_queue", counters.dropped_queue},
          {"dropped_loss", counters.dropped_loss},
          {"dropped_cut", counters.dropped_cut},
          {"dropped_firewall", counters.dropped_firewall},
          {"dropped_memory", counters.dropped_memory},
          {"queue_most", counters.queue_most}};
}

}  // namespace isthmus::lab

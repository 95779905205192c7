#include "core/base/any_json.hpp"

#include <utility>
#include <vector>

#include "core/base/wipe.hpp"

namespace isthmus::core {
namespace {

using nlohmann::json;

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The bytes of the UTF-8 character at the beginning of `text`; 0 if it is not valid.
std::size_t character_size(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  std::size_t size = 0;
  if (lead >= 0xC2 && lead <= 0xF4) size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned char second = byte_at(text, 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : size;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    std::size_t size = character_size(bytes);
    if (size > 0) {
      text += bytes.substr(0, size);
    } else {
      const unsigned char byte = byte_at(bytes, 0);
      text += '\0';
      text += static_cast<char>(0xC0U | byte >> 6U);
      text += static_cast<char>(0x80U | (byte & 0x3FU));
      size = 1;
    }
    bytes.remove_prefix(size);
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '\0' && at + 2 < text.size() &&
                        (byte_at(text, at + 1) == 0xC2 || byte_at(text, at + 1) == 0xC3);
    if (!escape) {
      bytes += text[at];
      continue;
    }
    bytes +=
        static_cast<char>((byte_at(text, at + 1) & 0x03U) << 6U | (byte_at(text, at + 2) & 0x3FU));
    at += 2;
  }
  return bytes;
}

// Not recursive: a text may be nested as deeply as it is long.
void change_strings(json& value, std::string (*change)(std::string_view)) {
  std::vector<json*> left{&value};
  while (!left.empty()) {
    json& here = *left.back();
    left.pop_back();
    if (here.is_string()) {
      here = change(here.get_ref<const std::string&>());
    } else if (here.is_array()) {
      for (json& item : here) left.push_back(&item);
    } else if (here.is_object()) {
      json::object_t changed;
      for (auto& [name, item] : here.get_ref<json::object_t&>()) {
        changed.emplace(change(name), std::move(item));
      }
      here = std::move(changed);
      for (auto& [name, item] : here.get_ref<json::object_t&>()) left.push_back(&item);
    }
  }
}

}  // namespace

json parse_any(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (text.find("\\u0000") != std::string_view::npos) change_strings(value, unescaped);
  return value;
}

void wipe_secrets(json& value) {
  std::vector<json*> left{&value};
  while (!left.empty()) {
    json& here = *left.back();
    left.pop_back();
    if (!here.is_structured()) continue;
    for (auto item = here.begin(); item != here.end(); ++item) {
      if (here.is_object() && item.key() == "secret" && item->is_string()) {
        wipe(item->get_ref<std::string&>());
      } else {
        left.push_back(&*item);
      }
    }
  }
}

std::string dump_any(json value, bool ascii) {
  try {
    return value.dump(-1, ' ', ascii);
  } catch (const json::type_error&) {  // a string that is not UTF-8
    change_strings(value, escaped);
    return value.dump(-1, ' ', ascii);
  }
}

}  // namespace isthmus::core

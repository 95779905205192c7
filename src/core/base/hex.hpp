// Bytes as text: two hexadecimal digits each.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isthmus::core {

std::string to_hex(std::string_view bytes);
/// Empty if `text` is empty or not pairs of hexadecimal digits.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace isthmus::core
